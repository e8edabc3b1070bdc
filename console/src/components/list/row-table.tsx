/**
 * The table of every list. On a phone the less important columns are hidden, and each row becomes a
 * card with labelled figures, so that nothing scrolls sideways.
 */
import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { zoneName } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { SideScroll } from '../page/side-scroll.tsx'
import classes from './row-table.module.css'

export interface Column<Row> {
  readonly key: string
  readonly header: ReactNode
  readonly render: (row: Row) => ReactNode
  /** True to align figures at the right. */
  readonly align?: 'right'
  /** True to add the time zone to the header. */
  readonly isTime?: boolean
  readonly width?: number | string
  /** True to hide the column on narrow screens. */
  readonly minor?: boolean
  /** True to give it a line of its own on a phone. */
  readonly wide?: boolean
  /** True to give it the room of two figures on a phone. */
  readonly isBroad?: boolean
  /** True to show it without a label on a phone. */
  readonly isPlain?: boolean
  /** True to leave it out of printed pages. */
  readonly noPrint?: boolean
}

export interface RowTableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowId: (row: Row) => string
  /** Makes the first column a button; its address should name the row. */
  readonly onOpen?: ((row: Row) => void) | undefined
  readonly openId?: string | undefined
  readonly isPending?: boolean
  readonly isStale?: boolean
  /** True to have headers for screen readers only, where the cells speak for themselves. */
  readonly hasHiddenHead?: boolean
  /** True for small type, in drawers and beside forms. */
  readonly isDense?: boolean
  /** The sum of the last column. */
  readonly total?: { readonly label: string; readonly value: ReactNode }
}

export function RowTable<Row>(props: RowTableProps<Row>) {
  const { label, rows, columns, rowId, isPending = false, isStale = false, total } = props
  const { language } = useLanguage()
  const t = useMessages(messages)
  return (
    <SideScroll label={label}>
      <Table
        className={classes.table}
        data-stale={isStale || undefined}
        data-headless={props.hasHiddenHead || undefined}
        aria-label={label}
        aria-busy={isPending}
        horizontalSpacing={8}
        {...(props.isDense ? { fz: 'xs', verticalSpacing: 4 } : {})}
      >
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.key} {...cell(column)}>
                {column.header || <VisuallyHidden>{t('actions')}</VisuallyHidden>}
                {column.isTime ? <span className={classes.zone}> {zoneName(language)}</span> : null}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {isPending ? <PlaceholderRows columns={columns} /> : null}
          {rows.map((row) => (
            <DataRow key={rowId(row)} {...props} row={row} />
          ))}
        </Table.Tbody>
        {total ? (
          <Table.Tfoot>
            <Table.Tr className={classes.total}>
              <Table.Th colSpan={columns.length - 1}>{total.label}</Table.Th>
              <Table.Th ta="right">{total.value}</Table.Th>
            </Table.Tr>
          </Table.Tfoot>
        ) : null}
      </Table>
    </SideScroll>
  )
}

function DataRow<Row>({
  row,
  columns,
  rowId,
  onOpen,
  openId,
}: RowTableProps<Row> & { readonly row: Row }) {
  const open = onOpen && (() => onOpen(row))
  return (
    <Table.Tr
      className={classes.row}
      data-clickable={open ? true : undefined}
      data-open={rowId(row) === openId || undefined}
      onClick={(event) => {
        // Links and buttons in a row handle their own clicks; a selected text is being copied.
        const isControl = event.target instanceof Element && event.target.closest('a, button')
        if (!isControl && !getSelection()?.toString()) open?.()
      }}
    >
      {columns.map((column, index) => (
        <Table.Td key={column.key} {...cell(column)} data-label={labelOf(column)}>
          {open && index === 0 ? (
            <UnstyledButton className={classes.opener} onClick={open}>
              {column.render(row)}
            </UnstyledButton>
          ) : (
            column.render(row)
          )}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function cell<Row>({ align, width, minor, wide, isBroad, noPrint }: Column<Row>) {
  return {
    ...(align ? { 'data-align': align } : {}),
    ...(wide ? { 'data-wide': true } : {}),
    ...(isBroad ? { 'data-broad': true } : {}),
    ...(width === undefined ? {} : { w: width }),
    ...(minor ? { visibleFrom: 'sm' } : {}),
    ...(noPrint ? { 'data-no-print': true } : {}),
  } as const
}

/** On a phone the table head is hidden, so each cell has a label. */
function labelOf<Row>({ header, isPlain }: Column<Row>): string | undefined {
  return typeof header === 'string' && header !== '' && !isPlain ? header : undefined
}

const EXPECTED_ROWS = ['60%', '45%', '70%', '52%', '64%', '48%'] as const

/** Placeholder rows, so that the layout does not shift when rows load. */
function PlaceholderRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return EXPECTED_ROWS.map((width) => (
    <Table.Tr key={width} aria-hidden className={classes.row}>
      {columns.map((column) => (
        <Table.Td key={column.key} {...cell(column)}>
          <span className={classes.expected} style={{ width }} />
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}
