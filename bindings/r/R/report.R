# A report is its HTML text, with methods to keep it and to look at it.

new_report <- function(html) structure(html, class = "tracker_report")

save_report <- function(report, file) {
  writeBin(charToRaw(enc2utf8(as.character(unclass(report)))), path.expand(check_path(file, "file")))
  invisible(report)
}

browse_report <- function(report) {
  file <- tempfile("report-", fileext = ".html")
  save_report(report, file)
  browseURL(paste0("file://", file))
  invisible(report)
}

`$.tracker_report` <- function(x, name) {
  switch(name,
    save = function(file) save_report(x, file),
    browse = function() browse_report(x),
    stop("a report has $save(file) and $browse(), not $", name, call. = FALSE)
  )
}

print.tracker_report <- function(x, ...) {
  cat(sprintf("<report of %.0f kB of HTML: $browse() shows it, $save(file) keeps it>\n", nchar(x, "bytes") / 1000))
  invisible(x)
}

as.character.tracker_report <- function(x, ...) as.character(unclass(x))
