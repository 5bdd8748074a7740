test_that("a running tracker survives garbage collection", {
  tracker <- ResourceTracker$new(interval = 0.05)
  for (i in 1:20) {
    invisible(gc())
    frame <- tracker$process_metrics
  }
  gctorture(TRUE)
  few <- tracker$system_metrics
  gctorture(FALSE)
  tracker$wait_for_samples(3)
  expect_length(tracker_processes_of(Sys.getpid()), 1)
  tracker$stop()
  expect_length(tracker_processes_of(Sys.getpid()), 0)
})

test_that("a tracker that nobody holds is stopped, with its files", {
  place <- tempfile()
  dir.create(place)
  old <- Sys.getenv("TMPDIR", NA)
  Sys.setenv(TMPDIR = place)
  on.exit(if (is.na(old)) Sys.unsetenv("TMPDIR") else Sys.setenv(TMPDIR = old))
  tracker <- ResourceTracker$new(interval = 0.05)
  tracker$wait_for_samples(1)
  expect_length(tracker_processes_of(Sys.getpid()), 1)
  expect_length(list.files(place), 1)
  rm(tracker)
  invisible(gc())
  invisible(gc())
  expect_length(tracker_processes_of(Sys.getpid()), 0)
  expect_length(list.files(place), 0)
})

test_that("tracking goes on after an error in the job", {
  tracker <- ResourceTracker$new(interval = 0.05)
  try(stop("the job failed"), silent = TRUE)
  expect_error(tracker$stats(list(1)), "stat_spec|No metrics")
  have <- tracker$n_samples
  tracker$wait_for_samples(have + 2)
  tracker$stop()
  expect_gte(tracker$n_samples, have + 2)
})

test_that("an interrupt ends the waiting, not the tracking", {
  printed <- run_r(c(
    'tracker <- ResourceTracker$new(interval = 0.05)',
    'invisible(system(sprintf("(sleep 0.5; kill -INT %d) &", Sys.getpid())))',
    'how <- tryCatch(tracker$wait_for_samples(1e6, timeout = 60), interrupt = function(e) "interrupted")',
    'cat(how, "\\n")',
    'tracker$wait_for_samples(tracker$n_samples + 2, timeout = 60)',
    'tracker$stop()',
    'cat(tracker$n_samples > 5, "\\n")'
  ))
  expect_equal(trimws(printed), c("interrupted", "TRUE"))
})

test_that("no tracker is left when R ends, or is killed", {
  for (end in c('quit("no")', 'tools::pskill(Sys.getpid(), 9)')) {
    printed <- run_r(c(
      'tracker <- ResourceTracker$new(interval = 0.05)',
      'tracker$wait_for_samples(1)',
      'cat(readLines(sprintf("/proc/%d/task/%d/children", Sys.getpid(), Sys.getpid())), "\\n")',
      'flush(stdout())', end
    ))
    pid <- scan(text = printed[1], quiet = TRUE)[1]
    expect_false(is.na(pid))
    for (i in 1:50) if (file.exists(sprintf("/proc/%d/status", pid))) Sys.sleep(0.1)
    expect_false(file.exists(sprintf("/proc/%d/status", pid)))
  }
})

test_that("a tracker whose process was killed still gives what it had", {
  tracker <- ResourceTracker$new(interval = 0.05)
  tracker$wait_for_samples(2)
  tools::pskill(tracker_processes_of(Sys.getpid())[[1]], 9)
  expect_warning(tracker$stop(), "killed")
  expect_gte(nrow(tracker$process_metrics), 2)
})

test_that("a forked R leaves its parent's tracker alone", {
  tracker <- ResourceTracker$new(interval = 0.05)
  job <- parallel::mcparallel({
    rm(tracker)
    invisible(gc())
    "done"
  })
  expect_equal(parallel::mccollect(job)[[1]], "done")
  have <- tracker$n_samples
  tracker$wait_for_samples(have + 2)
  expect_true(tracker$running)
  tracker$stop()
})

test_that("a tracker in a saved workspace says what it is", {
  tracker <- short_run()
  file <- tempfile(fileext = ".rds")
  saveRDS(tracker, file)
  expect_error(readRDS(file)$n_samples, "another R process")
})
