// npm run routes-table: writes docs/cabinet-routes.md from what a real server answers.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { measureRoutes, renderTable } from '../test/routes/table.ts'

const text = renderTable(await measureRoutes())
await writeFile(join(import.meta.dirname, '../docs/cabinet-routes.md'), text)
