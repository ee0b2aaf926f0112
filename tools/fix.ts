// Formats the source and repairs what the linter can repair by itself. Further arguments name the
// files; without them, everything.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
const given = process.argv.slice(2)
const paths = given.length > 0 ? given : ['.']
const child = spawn(process.execPath, [biome, 'check', '--write', ...paths], {
  cwd: root,
  stdio: 'inherit',
})
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
