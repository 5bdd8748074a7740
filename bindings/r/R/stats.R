# Statistics that are not among the usual ones, statistics of several runs, and what they recommend.

aggregates <- list(
  mean = mean, max = max, min = min, sum = sum, median = median,
  duration = function(x) max(x) - min(x)
)

stat_spec <- function(column, agg, agg_name = NULL, round = NULL) {
  column <- check_path(column, "column")
  if (is.character(agg)) {
    if (length(agg) != 1 || !agg %in% names(aggregates)) {
      stop("agg must be a function or one of ", paste(names(aggregates), collapse = ", "),
           call. = FALSE)
    }
    agg_name <- if (is.null(agg_name)) agg else agg_name
    agg <- aggregates[[agg]]
  }
  if (!is.function(agg) || is.null(agg_name)) {
    stop("agg must be a function, with agg_name as the name of its result", call. = FALSE)
  }
  structure(list(column = column, agg = agg, agg_name = agg_name, round = round),
            class = "stat_spec")
}

one_stat <- function(metrics, spec, interval) {
  if (!inherits(spec, "stat_spec")) stop("specs must be a list of stat_spec()", call. = FALSE)
  if (!spec$column %in% names(metrics)) {
    stop("there is no column ", spec$column, call. = FALSE)
  }
  values <- as.numeric(metrics[[spec$column]])
  values <- values[!is.na(values)]
  if (!length(values)) return(NA_real_)
  value <- spec$agg(values)
  # A series of n rows covers n intervals, of which its timestamps span n - 1.
  if (spec$column == "timestamp" && spec$agg_name == "duration") value <- value + interval
  if (is.null(spec$round)) value else round(value, spec$round)
}

compute_stats <- function(metrics, specs, interval) {
  if (inherits(specs, "stat_spec")) specs <- list(specs)
  stats <- list()
  for (spec in specs) {
    stats[[spec$column]][[spec$agg_name]] <- one_stat(metrics, spec, interval)
  }
  lapply(stats, as.list)
}

# One run's statistics may stand for a list of one.
as_stats_list <- function(stats) {
  if (!is.list(stats)) stop("historical_stats must be a list of what $stats() gives", call. = FALSE)
  if (!is.null(names(stats))) list(stats) else stats
}

aggregate_stats <- function(stats) {
  texts <- vapply(as_stats_list(stats), to_json, "")
  stats_from_json(.Call(r_stats_aggregate, texts))
}

figure <- function(stats, column, name) {
  value <- stats[[column]][[name]]
  if (is.null(value)) NA_real_ else as.double(value)
}

classic_needs <- function(runs) {
  rows <- lapply(runs, function(stats) {
    c(figure(stats, "process_cpu_usage", "mean"), figure(stats, "process_memory", "max"),
      figure(stats, "process_gpu_usage", "mean"), figure(stats, "process_gpu_usage", "max"),
      figure(stats, "process_gpu_vram", "max"))
  })
  needs <- .Call(r_recommend_classic, do.call(rbind, rows))
  setNames(as.list(needs), c("cpu", "memory", "gpu", "vram"))
}
