// A table that turns into cards on a phone, or on a tablet too if it has many columns: each row is
// a card, each cell has the label of its column. The markup is the same; the roles are explicit
// because some browsers stop treating a table as one when CSS displays it as blocks.
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

/** Classes of a table whose cards end at 768 px, and at 1024 px; whole, for Tailwind. */
const looks = {
  narrow: {
    table: 'max-md:block',
    head: 'max-md:sr-only',
    body: 'max-md:grid max-md:grid-cols-1 max-md:gap-3',
    row:
      'max-md:grid max-md:grid-cols-1 max-md:gap-2 max-md:rounded-box max-md:border max-md:p-4 ' +
      'md:border-b',
    lastRow: 'md:last:border-0',
    below: 'max-md:block md:border-b',
    belowCell: 'max-md:block md:py-4',
    cell:
      'md:px-3 md:py-3 md:first:ps-0 md:last:pe-0 max-md:flex max-md:items-baseline ' +
      'max-md:justify-between max-md:gap-x-4',
    atEnd: 'md:text-end',
    title: 'max-md:font-medium',
    label: 'md:hidden',
    value: 'max-md:ms-auto max-md:text-end',
  },
  wide: {
    table: 'max-lg:block',
    head: 'max-lg:sr-only',
    body: 'max-lg:grid max-lg:grid-cols-1 max-lg:gap-3',
    row:
      'max-lg:grid max-lg:grid-cols-1 max-lg:gap-2 max-lg:rounded-box max-lg:border max-lg:p-4 ' +
      'md:max-lg:grid-cols-2 md:max-lg:gap-x-8 lg:border-b',
    lastRow: 'lg:last:border-0',
    below: 'max-lg:block lg:border-b',
    belowCell: 'max-lg:block lg:py-4',
    cell:
      'lg:px-3 lg:py-3 lg:first:ps-0 lg:last:pe-0 max-lg:flex max-lg:items-baseline ' +
      'max-lg:justify-between max-lg:gap-x-4',
    atEnd: 'lg:text-end',
    title: 'max-lg:col-span-full max-lg:font-medium',
    label: 'lg:hidden',
    value: 'max-lg:ms-auto max-lg:text-end',
  },
} as const
type Look = (typeof looks)[keyof typeof looks]

export function Table<Row>(props: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** The content below an open row; undefined while the row is closed. */
  readonly below?: (row: Row) => ReactNode
  /** So many columns that they would be cut into pieces on a tablet: it shows cards. */
  readonly isWide?: boolean
}) {
  const { caption, columns, rows, rowId, below, isWide = false } = props
  const roles = { table: 'table', row: 'row', cell: 'cell', head: 'columnheader' }
  const look = isWide ? looks.wide : looks.narrow
  return (
    <table role={roles.table} className={classes('w-full border-collapse', look.table)}>
      <caption className="sr-only">{caption}</caption>
      <thead className={look.head}>
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
      <tbody className={look.body}>
        {rows.map((row) => {
          const details = below?.(row)
          return (
            <Fragment key={rowId(row)}>
              <tr
                role={roles.row}
                className={classes('border-line', look.row, details === undefined && look.lastRow)}
              >
                {columns.map((column) => (
                  <Cell key={column.id} column={column} role={roles.cell} look={look}>
                    {column.cell(row)}
                  </Cell>
                ))}
              </tr>
              {details !== undefined && (
                <tr role={roles.row} className={classes('border-line', look.below)}>
                  <td role={roles.cell} colSpan={columns.length} className={look.belowCell}>
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
  readonly look: Look
  readonly children: ReactNode
}) {
  const { column, role, look, children } = props
  const isPlain = column.isTitle === true || column.isUnlabelled === true
  return (
    <td
      role={role}
      className={classes(
        'align-middle max-[20em]:flex-wrap',
        look.cell,
        // A number that breaks in the middle reads as two.
        column.isNumber === true && classes('figures whitespace-nowrap', look.atEnd),
        column.isUnlabelled === true && look.atEnd,
        column.isTitle === true && look.title,
      )}
    >
      {!isPlain && (
        <span aria-hidden className={classes('max-w-full shrink-0 text-sm text-soft', look.label)}>
          {column.label}
        </span>
      )}
      <div className={classes('min-w-0 wrap-anywhere', !isPlain && look.value)}>{children}</div>
    </td>
  )
}
