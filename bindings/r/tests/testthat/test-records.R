test_that("what is kept comes back", {
  tracker <- short_run()
  file <- tempfile(fileext = ".json.gz")
  tracker$dump(file)
  expect_equal(readBin(file, "raw", 2), as.raw(c(0x1f, 0x8b)))
  copies <- list(ResourceTracker$load(file), ResourceTracker$loads(tracker$dumps()),
                 ResourceTracker$from_snapshot(tracker$snapshot()))
  for (copy in copies) {
    expect_false(copy$running)
    expect_equal(copy$process_metrics, tracker$process_metrics)
    expect_equal(copy$system_metrics, tracker$system_metrics)
    expect_equal(copy$stats(), tracker$stats())
    expect_equal(copy$server_info, tracker$server_info)
    expect_equal(as.numeric(copy$start_time), as.numeric(tracker$start_time))
    expect_error(copy$start(), "already stopped")
  }
})

test_that("a snapshot has what others expect of it", {
  snapshot <- short_run()$snapshot()
  expect_true(all(c("metadata", "server_info", "cloud_info", "process_metrics", "system_metrics") %in%
                    names(snapshot)))
  expect_equal(snapshot$metadata$version, 1)
  expect_equal(snapshot$metadata$pid, Sys.getpid())
  expect_type(snapshot$process_metrics$timestamp, "double")
  expect_false(inherits(snapshot$process_metrics$timestamp, "POSIXct"))
})

test_that("a file of the Python package loads, its absent values as NA", {
  text <- '{"metadata": {"version": 1, "resource_tracker": {"version": "0.4.2", "implementation": "procfs"},
    "pid": 42, "children": true, "interval": 1, "method": null, "autostart": true, "track_processes": true,
    "track_system": true, "discover_server": true, "discover_cloud": true, "start_time": 1700000000,
    "stop_time": 1700000002, "duration": 3.0}, "server_info": {"vcpus": 4, "gpu_names": ["T4", "T4"]},
    "cloud_info": {"vendor": "aws"},
    "process_metrics": [{"timestamp": 1700000001, "pid": 42, "children": null, "cpu_usage": 0.5, "memory": 2048},
                        {"timestamp": 1700000002, "pid": 42, "children": 1, "cpu_usage": 1.5, "memory": 4096}],
    "system_metrics": [{"timestamp": 1700000001, "cpu_usage": 1}, {"timestamp": 1700000002, "cpu_usage": 2}]}'
  tracker <- ResourceTracker$loads(text)
  expect_equal(tracker$pid, 42)
  expect_equal(tracker$process_metrics$children, c(NA, 1))
  expect_false(is.nan(tracker$process_metrics$children[1]))
  expect_equal(as.numeric(tracker$process_metrics$timestamp), c(1700000001, 1700000002))
  expect_equal(tracker$server_info$gpu_names, c("T4", "T4"))
  expect_equal(tracker$cloud_info$vendor, "aws")
  expect_equal(tracker$stats(list(stat_spec("process_memory", "max")))$process_memory$max, 4096)
})

test_that("a million rows take little more than their columns", {
  text <- large_snapshot(1e6)
  tracker <- ResourceTracker$loads(text)
  rm(text)
  invisible(gc())
  memory <- function(field) {
    status <- readLines("/proc/self/status")
    as.numeric(gsub("[^0-9]", "", grep(paste0("^", field, ":"), status, value = TRUE))) * 1024
  }
  cat("5", file = "/proc/self/clear_refs") # resets the high-water mark
  before <- memory("VmRSS")
  frame <- tracker$process_metrics
  taken <- memory("VmHWM") - before
  expect_equal(nrow(frame), 1e6)
  columns <- sum(vapply(frame, function(column) as.numeric(object.size(column)), 0))
  expect_lte(as.numeric(object.size(frame)), 1.2 * columns)
  expect_lte(taken, 1.2 * columns)
  expect_equal(frame$memory[c(1, 1e6)], c(1001, 1001000))
  expect_equal(as.numeric(frame$timestamp[8192:8194]), 8192:8194)
})
