Sys.setenv(TRACKER_CLOUD = "off") # tests ask nobody

# A tracker that has measured, stopped.
short_run <- function(samples = 3, ...) {
  tracker <- ResourceTracker$new(interval = 0.05, ...)
  tracker$wait_for_samples(samples)
  tracker$stop()
}

# An R of its own: what it prints, without what could disturb others.
run_r <- function(code, ...) {
  file <- tempfile(fileext = ".R")
  writeLines(c("library(resource.tracker)", code), file)
  libraries <- paste(.libPaths(), collapse = .Platform$path.sep)
  # A death by signal, which some tests want, is a warning.
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file), stdout = TRUE,
                           stderr = TRUE, env = paste0("R_LIBS=", libraries), ...))
}

tracker_processes_of <- function(pid) {
  children <- readLines(sprintf("/proc/%d/task/%d/children", pid, pid), warn = FALSE)
  pids <- scan(text = children, what = 1L, quiet = TRUE)
  Filter(function(child) {
    name <- tryCatch(readLines(sprintf("/proc/%d/comm", child), warn = FALSE), error = function(e) "")
    identical(name, "resource-tracke")
  }, pids)
}

# A snapshot with as many rows as asked for, as the Python package would write it.
large_snapshot <- function(rows) {
  columns <- c("timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory", "read_bytes", "write_bytes",
               "gpu_usage", "gpu_vram", "gpu_utilized")
  values <- c(rep(list(0), length(columns)))
  names(values) <- columns
  values <- lapply(values, function(x) rep("1", rows))
  values$timestamp <- as.character(seq_len(rows))
  values$memory <- as.character(seq_len(rows) + 1000L)
  one_column <- function(name) sprintf('"%s":[%s]', name, paste(values[[name]], collapse = ","))
  sprintf('{"metadata":{"pid":1,"children":true,"interval":1,"track_processes":true,"track_system":false,
            "discover_server":false,"discover_cloud":false,"start_time":0,"stop_time":%d},
            "server_info":null,"cloud_info":null,"process_metrics":{%s},"system_metrics":[]}',
          rows, paste(vapply(columns, one_column, ""), collapse = ","))
}
