test_that("a tracker measures this process and the machine", {
  tracker <- ResourceTracker$new(interval = 0.05)
  expect_true(tracker$running)
  expect_equal(tracker$pid, Sys.getpid())
  ballast <- numeric(1e7) + 1
  tracker$wait_for_samples(4)
  tracker$stop()
  expect_false(tracker$running)
  expect_gt(tracker$n_samples, 3)

  process <- tracker$process_metrics
  expect_s3_class(process, "data.frame")
  expect_s3_class(process$timestamp, "POSIXct")
  expect_equal(nrow(process), tracker$n_samples)
  expect_equal(names(process), c("timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory",
                                 "read_bytes", "write_bytes", "gpu_usage", "gpu_vram", "gpu_utilized"))
  expect_equal(unique(process$pid), Sys.getpid())
  expect_gt(max(process$memory), 8e7 / 1024)
  expect_equal(as.numeric(diff(process$timestamp)), rep(0.05, nrow(process) - 1), tolerance = 0.5)
  expect_lt(abs(as.numeric(difftime(Sys.time(), process$timestamp[1], units = "secs"))), 60)

  system <- tracker$system_metrics
  expect_equal(names(system)[1:5], c("timestamp", "processes", "utime", "stime", "cpu_usage"))
  expect_gt(system$memory_free[1], 0)
  expect_gt(length(ballast), 0)
})

test_that("a busy process shows as busy, with its children", {
  tracker <- ResourceTracker$new(interval = 0.1)
  until <- Sys.time() + 1
  while (Sys.time() < until) sum(sqrt(seq_len(1e5)))
  system("sleep 0.3")
  tracker$stop()
  expect_gt(max(tracker$process_metrics$cpu_usage), 0.3)
  expect_gt(max(tracker$process_metrics$children), 0)
})

test_that("combined metrics join both tables", {
  tracker <- short_run()
  combined <- tracker$get_combined_metrics()
  expect_equal(names(combined)[1:2], c("timestamp", "system_processes"))
  expect_true("process_memory" %in% names(combined))
  expect_false("process_timestamp" %in% names(combined))
  bytes <- tracker$get_combined_metrics(bytes = TRUE)
  expect_equal(bytes$process_memory, combined$process_memory * 1024)
  human <- tracker$get_combined_metrics(human_names = TRUE)
  expect_true(all(c("Timestamp", "System CPU usage", "Process memory usage") %in% names(human)))
  own <- tracker$get_combined_metrics(system_prefix = "s.", process_prefix = "p.")
  expect_true(all(c("s.cpu_usage", "p.cpu_usage") %in% names(own)))
})

test_that("one table alone is enough", {
  tracker <- short_run(track_system = FALSE)
  expect_gt(tracker$n_samples, 0)
  expect_equal(nrow(tracker$system_metrics), 0)
  expect_gt(tracker$stats()$process_memory$max, 0)
  expect_gt(short_run(track_processes = FALSE)$n_samples, 0)
})

test_that("starting and stopping have their rules", {
  tracker <- ResourceTracker$new(interval = 0.05, autostart = FALSE)
  expect_false(tracker$running)
  expect_true(is.na(tracker$start_time))
  expect_error(tracker$stop(), "not been started")
  expect_error(tracker$stats(), "No metrics collected (yet)", fixed = TRUE)
  expect_equal(nrow(tracker$process_metrics), 0)
  tracker$start()
  expect_s3_class(tracker$start_time, "POSIXct")
  expect_error(tracker$start(), "already running")
  tracker$stop()
  expect_silent(tracker$stop())
  expect_error(tracker$start(), "already stopped")
})

test_that("waiting ends in time, and says why", {
  tracker <- ResourceTracker$new(interval = 0.05)
  started <- Sys.time()
  expect_error(tracker$wait_for_samples(1000, timeout = 0.5), "Timed out waiting for resource tracker to collect 1000")
  expect_lt(as.numeric(difftime(Sys.time(), started, units = "secs")), 3)
  tracker$stop()
  expect_error(tracker$wait_for_samples(1e6), "already stopped with")
})

test_that("bad arguments are named", {
  expect_error(ResourceTracker$new(interval = 0), "interval must be 0.001 to 3600")
  expect_error(ResourceTracker$new(interval = "1"), "interval must be one number")
  expect_error(ResourceTracker$new(children = NA), "children must be TRUE or FALSE")
  expect_error(ResourceTracker$new(track_processes = FALSE, track_system = FALSE), "neither")
  expect_error(ResourceTracker$load(file.path(tempdir(), "none.gz")), "none.gz")
  expect_error(ResourceTracker$loads("{"), "snapshot")
})

test_that("a program that is not there is an error that says what to do", {
  old <- Sys.getenv("TRACKER_BIN", NA)
  Sys.setenv(TRACKER_BIN = "/nonexistent/resource-tracker")
  on.exit(if (is.na(old)) Sys.unsetenv("TRACKER_BIN") else Sys.setenv(TRACKER_BIN = old))
  expect_error(ResourceTracker$new(), "TRACKER_BIN")
})

test_that("phases are kept", {
  tracker <- ResourceTracker$new(interval = 0.05)
  tracker$mark_start("load")
  tracker$mark_stop("load")
  tracker$mark("halfway")
  tracker$wait_for_samples(1)
  tracker$stop()
  expect_equal(vapply(tracker$snapshot()$events, function(event) event$name, ""), c("load", "load", "halfway"))
})
