// What programs that tests start get of our environment. Everything else they are given by name, so
// that no test depends on the shell that runs it.

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env

export const childEnvironment: Readonly<Record<string, string>> = {
  PATH,
  // Without the cache each program compiles for a second.
  ...(NODE_COMPILE_CACHE !== '' && { NODE_COMPILE_CACHE }),
}
