# The methods and fields are those of the Python package's ResourceTracker.

ResourceTracker <- R6Class(
  "ResourceTracker",
  cloneable = FALSE,
  public = list(
    initialize = function(pid = Sys.getpid(), children = TRUE, interval = 1, method = NULL,
                          autostart = TRUE, track_processes = TRUE, track_system = TRUE,
                          discover_server = TRUE, discover_cloud = TRUE) {
      if (inherits(pid, "loaded_tracker")) {
        private$pointer <- unclass(pid)$pointer
        return(invisible(self))
      }
      options <- list(
        pid = check_number(pid, "pid"), interval = check_number(interval, "interval"),
        children = check_flag(children, "children"),
        autostart = check_flag(autostart, "autostart"),
        track_processes = check_flag(track_processes, "track_processes"),
        track_system = check_flag(track_system, "track_system"),
        discover_server = check_flag(discover_server, "discover_server"),
        discover_cloud = check_flag(discover_cloud, "discover_cloud")
      )
      private$pointer <- .Call(r_tracker_new, options)
      private$method_asked <- method
    },

    start = function() {
      .Call(r_tracker_start, private$pointer)
      invisible(self)
    },

    stop = function() {
      if (self$running) {
        .Call(r_tracker_stop, private$pointer)
      } else if (is.na(self$start_time)) {
        stop("Resource tracker has not been started, so it can't be stopped.", call. = FALSE)
      }
      invisible(self)
    },

    wait_for_samples = function(n = 1, timeout = 5) {
      .Call(r_tracker_wait, private$pointer, check_number(n, "n"), check_number(timeout, "timeout"))
      invisible(self)
    },

    get_combined_metrics = function(bytes = FALSE, human_names = FALSE, system_prefix = NULL,
                                    process_prefix = NULL) {
      private$frame("both", check_flag(bytes, "bytes"), check_flag(human_names, "human_names"),
                    check_text(system_prefix, "system_prefix"),
                    check_text(process_prefix, "process_prefix"))
    },

    stats = function(specs = NULL) {
      if (is.null(specs)) {
        return(stats_from_json(.Call(r_tracker_stats, private$pointer)))
      }
      if (self$n_samples == 0) stop("No metrics collected (yet)", call. = FALSE)
      compute_stats(self$get_combined_metrics(), specs, self$interval)
    },

    recommend_resources = function(historical_stats = list()) {
      self$wait_for_samples(n = 1, timeout = self$interval * 5)
      classic_needs(c(list(self$stats()), as_stats_list(historical_stats)))
    },

    recommend_server = function(..., historical_stats = list(), online = NULL, spot = FALSE) {
      needs <- self$recommend_resources(historical_stats)
      end <- if (self$running) Sys.time() else self$stop_time
      seconds <- as.numeric(difftime(end, self$start_time, units = "secs")) + self$interval
      find_server(needs, list(...), online, spot, seconds, .Call(r_tracker_cloud_info, private$pointer))
    },

    report = function(integration = "standalone", historical_stats = list(), status_failed = FALSE) {
      if (self$running) self$wait_for_samples(n = 1, timeout = self$interval * 5)
      history <- to_json(unname(as_stats_list(historical_stats)))
      new_report(.Call(r_tracker_report, private$pointer, check_path(integration, "integration"), history,
                       check_flag(status_failed, "status_failed")))
    },

    snapshot = function() {
      snapshot <- from_json(self$dumps())
      snapshot$process_metrics <- private$frame("process", raw_time = TRUE)
      snapshot$system_metrics <- private$frame("system", raw_time = TRUE)
      snapshot
    },

    dumps = function() .Call(r_tracker_snapshot, private$pointer),

    dump = function(file) {
      .Call(r_tracker_save, private$pointer, path.expand(check_path(file, "file")))
      invisible(self)
    },

    mark = function(name) private$write_mark(0L, name),
    mark_start = function(name) private$write_mark(1L, name),
    mark_stop = function(name) private$write_mark(2L, name),

    print = function(...) {
      state <- if (self$running) "running" else if (is.na(self$start_time)) "not started" else "stopped"
      cat(sprintf("<ResourceTracker> of process %d, every %g s: %s, %.0f samples\n",
                  self$pid, self$interval, state, self$n_samples))
      invisible(self)
    }
  ),

  active = list(
    pid = function() private$settings()$pid,
    children = function() private$settings()$children,
    interval = function() private$settings()$interval,
    method = function() private$method_asked,
    autostart = function() private$settings()$autostart,
    track_processes = function() private$settings()$track_processes,
    track_system = function() private$settings()$track_system,
    discover_server = function() private$settings()$discover_server,
    discover_cloud = function() private$settings()$discover_cloud,
    start_time = function() as_time(private$settings()$start_time),
    stop_time = function() as_time(private$settings()$stop_time),
    running = function() .Call(r_tracker_running, private$pointer),
    n_samples = function() .Call(r_tracker_n_samples, private$pointer),
    process_metrics = function() private$frame("process"),
    system_metrics = function() private$frame("system"),
    totals = function() stats_from_json(.Call(r_tracker_totals, private$pointer)),
    processes = function() rows_from_json(.Call(r_tracker_processes, private$pointer)),
    server_info = function() facts_from_json(.Call(r_tracker_server_info, private$pointer)),
    cloud_info = function() facts_from_json(.Call(r_tracker_cloud_info, private$pointer))
  ),

  private = list(
    pointer = NULL,
    method_asked = NULL,
    settings = function() .Call(r_tracker_settings, private$pointer),
    frame = function(rows, bytes = FALSE, human_names = FALSE, system_prefix = NULL,
                     process_prefix = NULL, raw_time = FALSE) {
      kind <- c(process = 1L, system = 2L, both = 3L)[[rows]]
      columns <- .Call(r_tracker_frame, private$pointer, kind, bytes, human_names, system_prefix,
                       process_prefix)
      as_data_frame(columns, raw_time)
    },
    write_mark = function(kind, name) {
      .Call(r_tracker_mark, private$pointer, kind, check_path(name, "name"))
      invisible(self)
    }
  )
)

# What Python has as class methods is found at the generator.
from_pointer <- function(pointer) {
  ResourceTracker$new(structure(list(pointer = pointer), class = "loaded_tracker"))
}

ResourceTracker$load <- function(file) {
  from_pointer(.Call(r_tracker_load, path.expand(check_path(file, "file"))))
}

ResourceTracker$loads <- function(s) from_pointer(.Call(r_tracker_loads, check_path(s, "s")))

ResourceTracker$from_snapshot <- function(snapshot) ResourceTracker$loads(to_json(snapshot))
