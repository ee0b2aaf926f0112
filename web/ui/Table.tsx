// A table that turns into cards on a phone: each row is a card, each cell has the label of its
// column. The markup is the same; the roles are explicit because some browsers stop treating a
// table as one when CSS displays it as blocks.
import { Fragment, type ReactNode } from 'react'
import { classes } from './classes.ts'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers are aligned at the end of their cell, in figures of equal width. */
  readonly isNumber?: boolean
  /** This cell names the row and is the heading of its card. */
  readonly isTitle?: boolean
  /** The label is for screen readers only, such as above a column of buttons. */
  readonly isUnlabelled?: boolean
}

export function Table<Row>(props: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** The content below an open row; undefined while the row is closed. */
  readonly below?: (row: Row) => ReactNode
}) {
  const { caption, columns, rows, rowId, below } = props
  const roles = { table: 'table', row: 'row', cell: 'cell', head: 'columnheader' }
  return (
    <table role={roles.table} className="w-full border-collapse max-md:block">
      <caption className="sr-only">{caption}</caption>
      <thead className="max-md:sr-only">
        <tr role={roles.row} className="border-b border-line text-sm text-soft">
          {columns.map((column) => (
            <th
              key={column.id}
              role={roles.head}
              scope="col"
              className={classes(
                'px-3 py-2 font-medium first:ps-0 last:pe-0',
                column.isNumber === true ? 'text-end' : 'text-start',
              )}
            >
              <span className={classes(column.isUnlabelled === true && 'sr-only')}>
                {column.label}
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-md:grid max-md:grid-cols-1 max-md:gap-3">
        {rows.map((row) => {
          const details = below?.(row)
          return (
            <Fragment key={rowId(row)}>
              <tr
                role={roles.row}
                className={classes(
                  'border-line max-md:grid max-md:grid-cols-1 max-md:gap-2 max-md:rounded-box',
                  'max-md:border max-md:p-4 md:border-b',
                  details === undefined && 'md:last:border-0',
                )}
              >
                {columns.map((column) => (
                  <Cell key={column.id} column={column} role={roles.cell}>
                    {column.cell(row)}
                  </Cell>
                ))}
              </tr>
              {details !== undefined && (
                <tr role={roles.row} className="border-line max-md:block md:border-b">
                  <td role={roles.cell} colSpan={columns.length} className="max-md:block md:py-4">
                    {details}
                  </td>
                </tr>
              )}
            </Fragment>
          )
        })}
      </tbody>
    </table>
  )
}

function Cell<Row>(props: {
  readonly column: Column<Row>
  readonly role: string
  readonly children: ReactNode
}) {
  const { column, role, children } = props
  const isPlain = column.isTitle === true || column.isUnlabelled === true
  return (
    <td
      role={role}
      className={classes(
        'align-middle md:px-3 md:py-3 md:first:ps-0 md:last:pe-0',
        'max-md:flex max-md:items-baseline max-md:justify-between max-md:gap-x-4',
        'max-[20em]:flex-wrap',
        column.isNumber === true && 'figures md:text-end',
        column.isUnlabelled === true && 'md:text-end',
        column.isTitle === true && 'max-md:font-medium',
      )}
    >
      {!isPlain && (
        <span aria-hidden className="max-w-full shrink-0 text-sm text-soft md:hidden">
          {column.label}
        </span>
      )}
      <div
        className={classes('min-w-0 wrap-anywhere', !isPlain && 'max-md:ms-auto max-md:text-end')}
      >
        {children}
      </div>
    </td>
  )
}
