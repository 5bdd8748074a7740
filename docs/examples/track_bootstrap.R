# An R job that tracks itself: Rscript track_bootstrap.R
library(resource.tracker)

tracker <- ResourceTracker$new(interval = 0.2)

tracker$mark_start("make data")
cars <- mtcars[sample(nrow(mtcars), 2e5, replace = TRUE), ]
tracker$mark_stop("make data")

tracker$mark_start("bootstrap")
slopes <- replicate(10, {
  part <- cars[sample(nrow(cars), replace = TRUE), ]
  coef(lm(mpg ~ wt, part))[["wt"]]
})
tracker$mark_stop("bootstrap")

tracker$wait_for_samples()
tracker$stop()

cat(sprintf("slope: %.2f, standard error %.4f\n", mean(slopes), sd(slopes)))
cat(sprintf("peak memory: %.0f MiB\n", tracker$stats()$process_memory$max / 1024))
needs <- tracker$recommend_resources()
cat(sprintf("next time ask for: %d CPU, %d MiB\n", needs$cpu, needs$memory))
tracker$dump("bootstrap.json.gz")
tracker$report()$save("bootstrap.html")
