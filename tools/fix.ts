// Formats the source and applies the linter's safe fixes, to the files given as arguments or to
// all.
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
