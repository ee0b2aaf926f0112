// A table of figures: cards on a phone, and on paper always a table, however narrow it is.

import { classes } from '../../ui/classes.ts'
import { type Column, Table } from '../../ui/Table.tsx'

export function FigureTable<Row>(props: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
}) {
  const { caption, columns, rows, rowId } = props
  return (
    <>
      <div className="print:hidden">
        <Table {...props} isWide />
      </div>
      <table className="hidden w-full border-collapse text-[8pt] print:table">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b border-black">
            {columns.map(({ id, label, isNumber = false }) => (
              <th key={id} scope="col" className={cellClasses(isNumber)}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowId(row)} className="border-b border-line">
              {columns.map(({ id, cell, isNumber = false }) => (
                <td key={id} className={cellClasses(isNumber)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function cellClasses(isNumber: boolean): string {
  return classes(
    'px-1.5 py-1 align-top first:ps-0 last:pe-0',
    isNumber ? 'figures text-end whitespace-nowrap' : 'text-start',
  )
}
