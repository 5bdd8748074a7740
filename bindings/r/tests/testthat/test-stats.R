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

test_that("the cheapest server has what is needed", {
  tracker <- short_run()
  any <- tracker$recommend_server()
  expect_true(all(c("vendor_id", "api_reference", "vcpus", "memory_amount", "min_price_ondemand") %in% names(any)))
  expect_gte(any$vcpus, 1)
  large <- tracker$recommend_server(historical_stats = list(run_stats(20, 60 * 1024^2)))
  expect_gte(large$memory_amount, 72 * 1024) # 60 GiB x 1.2
  expect_gt(large$min_price_ondemand, any$min_price_ondemand)
  expect_equal(tracker$recommend_server(vendor_id = "azure")$vendor_id, "azure")
  expect_true(tracker$recommend_server(vendor_id = c("aws", "gcp"))$vendor_id %in% c("aws", "gcp"))
  expect_error(tracker$recommend_server("aws"), "filters need names")
  expect_error(tracker$recommend_server(countries = "DE"), "filtered by countries, only by vendor, .*; online = TRUE asks")
  expect_error(tracker$recommend_server(historical_stats = list(run_stats(1, 1024^4))), "no server has")
})

test_that("where nobody answers the built-in table does", {
  old <- Sys.getenv("TRACKER_KEEPER_URL", NA)
  Sys.setenv(TRACKER_KEEPER_URL = "http://127.0.0.1:9") # discard: nobody listens
  on.exit(if (is.na(old)) Sys.unsetenv("TRACKER_KEEPER_URL") else Sys.setenv(TRACKER_KEEPER_URL = old))
  tracker <- short_run()
  expect_equal(tracker$recommend_server(online = TRUE)$api_reference, tracker$recommend_server()$api_reference)
})

test_that("a price table that can't be used is told", {
  before <- Sys.getenv("XDG_DATA_HOME", NA)
  on.exit(if (is.na(before)) Sys.unsetenv("XDG_DATA_HOME") else Sys.setenv(XDG_DATA_HOME = before))
  folder <- tempfile()
  dir.create(file.path(folder, "resource-tracker"), recursive = TRUE)
  writeLines("no table", file.path(folder, "resource-tracker", "catalog.gz"))
  tracker <- short_run()
  Sys.setenv(XDG_DATA_HOME = folder)
  expect_warning(server <- tracker$recommend_server(), "catalog.gz is passed over: it is no price table, or damaged")
  expect_equal(server$source, "catalog")
})
