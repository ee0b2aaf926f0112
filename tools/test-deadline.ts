// Loaded into every test file by tools/test.ts. Node bounds the tests of a file but not the file:
// one that left a connection open would keep the run waiting for ever. Here it fails instead and
// says what it left open.

// The tests of a file run one after the other, each bounded by the runner. The longest file judges
// 34 screens of an owner in every look: 184 s alone on two cores, and twice that beside other work.
// A file that needs more than ten minutes is a bench or a drill, not a test.
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
