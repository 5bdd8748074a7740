test_that("the machine is known", {
  server <- get_server_info()
  expect_equal(server$os, "Linux")
  expect_gte(server$vcpus, 1)
  total <- as.numeric(gsub("[^0-9]", "", grep("^MemTotal", readLines("/proc/meminfo"), value = TRUE)))
  expect_equal(server$memory_mb, total / 1024, tolerance = 1e-4)
  expect_type(server$gpu_names, "character")
})

test_that("the cloud is asked for, or known to be unknown", {
  cloud <- get_cloud_info()
  expect_true(all(c("vendor", "instance_type", "region", "zone", "discovery_time") %in% names(cloud)))
  expect_equal(cloud$vendor, "unknown") # TRACKER_CLOUD=off
  tracker <- short_run()
  expect_gte(tracker$server_info$vcpus, 1)
  expect_true(tracker$server_info$allocation %in% c("dedicated", "shared", "unknown"))
})

test_that("one version everywhere", {
  expect_equal(core_version(), as.character(utils::packageVersion("resource.tracker")))
})

test_that("totals tell more than samples", {
  tracker <- ResourceTracker$new(interval = 0.05)
  expect_null(tracker$totals)
  for (i in 1:3) system("true")
  tracker$wait_for_samples(1)
  tracker$stop()
  expect_gte(tracker$totals$processes$value, 1)
  expect_gt(tracker$totals$peak_memory_bytes$value, 1e7)
  expect_s3_class(tracker$processes, "data.frame")
  expect_s3_class(tracker$processes$start_time, "POSIXct")
})
