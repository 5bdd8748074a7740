test_that("a report is a page that needs nobody", {
  tracker <- short_run()
  report <- tracker$report()
  html <- as.character(report)
  expect_match(html, "^<!doctype html>", ignore.case = TRUE)
  expect_false(grepl("(src|href)=[\"']https?:", html))
  file <- tempfile(fileext = ".html")
  expect_identical(report$save(file), report)
  expect_equal(readChar(file, file.size(file), useBytes = TRUE), html, ignore_attr = TRUE)
  expect_output(print(report), "kB of HTML")
  expect_error(report$open, "\\$browse")
})

test_that("a report can be looked at", {
  seen <- NULL
  old <- options(browser = function(url) seen <<- url)
  on.exit(options(old))
  report <- short_run()$report()
  expect_identical(report$browse(), report)
  expect_match(seen, "^file:///.*\\.html$")
  expect_true(file.exists(sub("^file://", "", seen)))
})

test_that("a report knows of earlier runs and of a failure", {
  tracker <- short_run()
  plain <- as.character(tracker$report())
  told <- as.character(tracker$report(historical_stats = list(tracker$stats()), status_failed = TRUE))
  expect_false(identical(plain, told))
  expect_error(tracker$report(integration = "nothing"), "standalone")
  expect_error(tracker$report(historical_stats = 3), "list of what")
})

test_that("also one that was loaded, and one that has no sample", {
  tracker <- short_run()
  expect_match(as.character(ResourceTracker$loads(tracker$dumps())$report()), "<html", ignore.case = TRUE)
  empty <- ResourceTracker$new(interval = 60)
  empty$stop()
  expect_match(as.character(empty$report()), "<html", ignore.case = TRUE)
})
