run_stats <- function(cpu, memory) {
  list(process_cpu_usage = list(mean = cpu, max = cpu), process_memory = list(mean = memory, max = memory),
       process_gpu_usage = list(mean = 0, max = 0), process_gpu_vram = list(mean = 0, max = 0),
       timestamp = list(duration = 10))
}

test_that("the usual statistics agree with the data frame", {
  tracker <- short_run()
  stats <- tracker$stats()
  process <- tracker$process_metrics
  expect_equal(stats$process_memory$max, max(process$memory))
  expect_equal(stats$process_memory$mean, mean(process$memory), tolerance = 1e-6)
  expect_equal(stats$timestamp$duration, as.numeric(diff(range(process$timestamp)), units = "secs") + 0.05,
               tolerance = 1e-3)
  expect_equal(sum(lengths(stats)), 14)
  expect_true(all(vapply(unlist(stats, recursive = FALSE), is.double, TRUE)))
})

test_that("statistics of one's own", {
  tracker <- short_run()
  stats <- tracker$stats(list(
    stat_spec("process_memory", "min"), stat_spec("process_memory", "median", round = 0),
    stat_spec("timestamp", "duration"), stat_spec("system_cpu_usage", function(x) x[1], agg_name = "first")
  ))
  expect_equal(stats$process_memory$min, min(tracker$process_metrics$memory))
  expect_equal(stats$timestamp$duration, tracker$stats()$timestamp$duration, tolerance = 1e-3)
  expect_equal(stats$system_cpu_usage$first, tracker$system_metrics$cpu_usage[1])
  expect_error(tracker$stats(list(stat_spec("process_nothing", "max"))), "no column process_nothing")
  expect_error(stat_spec("process_memory", "largest"), "one of mean")
  expect_error(stat_spec("process_memory", max), "agg_name")
})

test_that("several runs: means are averaged, of maxima the largest is taken", {
  both <- aggregate_stats(list(run_stats(1, 1000), run_stats(3, 3000)))
  expect_equal(both$process_cpu_usage$mean, 2)
  expect_equal(both$process_memory$max, 3000)
  expect_equal(both$timestamp$duration, 10)
})

test_that("recommendations are the classic ones", {
  tracker <- short_run()
  own <- tracker$recommend_resources()
  expect_equal(names(own), c("cpu", "memory", "gpu", "vram"))
  expect_equal(own$cpu, 1)
  expect_gte(own$memory, max(tracker$process_metrics$memory) * 1.2 / 1024)
  # 5 GiB x 1.2, in whole GiB
  with_history <- tracker$recommend_resources(historical_stats = list(run_stats(8, 5 * 1024^2)))
  expect_equal(with_history$memory, 6 * 1024)
  expect_gte(with_history$cpu, 4)
  expect_error(tracker$recommend_resources(historical_stats = 1), "list of what")
})
