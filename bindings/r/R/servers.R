# Servers to rent.

# TRACKER_ONLINE in the environment decides where nobody says.
is_online <- function(online) {
  if (!is.null(online)) return(check_flag(online, "online"))
  tolower(Sys.getenv("TRACKER_ONLINE")) %in% c("1", "true", "yes", "on")
}

# list(vendor_id = c("aws", "gcp")) as the core wants it.
as_filters <- function(filters) {
  if (length(filters) && (is.null(names(filters)) || any(names(filters) == ""))) {
    stop("filters need names, such as vendor_id = \"aws\"", call. = FALSE)
  }
  vapply(names(filters), function(name) {
    paste0(name, "=", paste(as.character(filters[[name]]), collapse = ","))
  }, "", USE.NAMES = FALSE)
}

find_server <- function(needs, filters, online, spot, run_seconds, cloud_json) {
  answer <- from_json(.Call(r_recommend_servers, as.double(unlist(needs)), as_filters(filters), is_online(online),
                            check_flag(spot, "spot"), run_seconds, cloud_json))
  if (!is.null(answer$warning)) warning(answer$warning, call. = FALSE)
  if (!length(answer$servers)) {
    stop("no server has ", paste(names(needs), unlist(needs), collapse = ", "),
         ": ask for less, or loosen the filters", call. = FALSE)
  }
  answer$servers[[1]]
}
