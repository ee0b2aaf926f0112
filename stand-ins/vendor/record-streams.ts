// Writes the recordings and their sidecars into test/recordings, or into the given folder:
//   node stand-ins/vendor/record-streams.ts [folder]
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { recordStreams } from './recordings.ts'

const folder = process.argv[2] ?? join(import.meta.dirname, '../../test/recordings')
await mkdir(folder, { recursive: true })
for (const { name, stream, sidecar } of await recordStreams()) {
  await writeFile(join(folder, `${name}.sse`), stream)
  await writeFile(join(folder, `${name}.json`), sidecar)
  console.log(`${name}: ${stream.length} bytes`)
}
