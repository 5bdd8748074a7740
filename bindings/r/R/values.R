# Between R's values and the core's.

check_number <- function(value, name) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < 0) {
    stop(name, " must be one number that is not negative", call. = FALSE)
  }
  as.double(value)
}

check_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    stop(name, " must be TRUE or FALSE", call. = FALSE)
  }
  value
}

check_path <- function(value, name) {
  if (!is.character(value) || length(value) != 1 || is.na(value)) {
    stop(name, " must be one string", call. = FALSE)
  }
  value
}

check_text <- function(value, name) if (is.null(value)) NULL else check_path(value, name)

as_time <- function(seconds) .POSIXct(seconds)

# Without copies: attributes are set in place, and row names are R's short form of 1..n.
as_data_frame <- function(columns, raw_time = FALSE) {
  rows <- if (length(columns)) length(columns[[1]]) else 0L
  if (rows && !raw_time) oldClass(columns[[1]]) <- c("POSIXct", "POSIXt")
  attr(columns, "row.names") <- .set_row_names(rows)
  class(columns) <- "data.frame"
  columns
}

# JSON arrays stay lists, so that what is read and written again is the same.
from_json <- function(text) fromJSON(text, simplifyVector = FALSE)

to_json <- function(value) {
  as.character(toJSON(value, auto_unbox = TRUE, null = "null", na = "null", digits = NA,
                      dataframe = "rows", POSIXt = "epoch"))
}

# Numbers are numbers for R, whether or not JSON wrote them without a point.
stats_from_json <- function(text) {
  stats <- from_json(text)
  if (is.null(stats)) return(NULL)
  rapply(stats, as.double, classes = "integer", how = "replace")
}

# Facts for a person: a list of strings is a character vector.
facts_from_json <- function(text) {
  facts <- from_json(text)
  if (is.null(facts)) return(NULL)
  lapply(facts, function(fact) {
    if (!is.list(fact) || !is.null(names(fact))) fact else as.character(unlist(fact))
  })
}

# An array of objects as a data frame; NULL where there is none.
rows_from_json <- function(text) {
  rows <- fromJSON(text)
  if (is.data.frame(rows) && "start_time" %in% names(rows)) rows$start_time <- as_time(rows$start_time)
  rows
}
