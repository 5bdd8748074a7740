# The machine and the cloud, without a tracker.

get_server_info <- function() facts_from_json(.Call(r_server_info))

get_cloud_info <- function() facts_from_json(.Call(r_cloud_info))

# The version of the core, which is the program's and the Python package's too.
core_version <- function() .Call(r_version)
