// Loaded into every test file by tools/test.ts. Node limits the time of a test but not of a file: a
// file that leaves a connection open would never end. Here it fails instead and prints what is
// open.

// The tests of a file run one after the other, each bounded by the runner. The longest file judges
// 34 screens of an owner in every look: 184 s alone on two cores, and 330 s on a slower machine.
// A file that needs more than ten minutes is a benchmark or a fault program, not a test.
const FILE_MS_MAX = 600_000

// The runner itself is started with the same options and must outlast all files.
if (process.env.NODE_TEST_CONTEXT?.startsWith('child') === true) {
  const deadline = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`not done after ${FILE_MS_MAX / 1000} s; still open: ${open}`)
    process.exit(1)
  }, FILE_MS_MAX)
  deadline.unref()
}
