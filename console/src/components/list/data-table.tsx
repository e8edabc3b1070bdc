/**
 * A dense list that loads page by page. Rows open their details; on a phone the less important
 * columns are hidden, and each row becomes a card with labelled figures.
 */
import { Button, Group, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatNumber, zoneName } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { AdminPages } from '../../lib/use-admin.ts'
import { messages } from '../messages.ts'
import { Panel } from '../page/panel.tsx'
import { SideScroll } from '../page/side-scroll.tsx'
import { ErrorState } from '../state/error-state.tsx'
import classes from './data-table.module.css'

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
}

export interface DataTableProps<Row> {
  readonly label: string
  readonly pages: Pick<
    AdminPages<Row>,
    'rows' | 'error' | 'isPending' | 'isStale' | 'hasMore' | 'isLoadingMore' | 'loadMore' | 'retry'
  >
  readonly columns: readonly Column<Row>[]
  readonly rowId: (row: Row) => string
  /** Makes the first column a button; its address should name the row. */
  readonly onOpen?: (row: Row) => void
  readonly openId?: string
  /** Shown in place of an empty table: EmptyState with the next step. */
  readonly empty: ReactNode
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { pages, columns, label, empty } = props
  const { language } = useLanguage()
  const t = useMessages(messages)
  if (pages.error && pages.rows.length === 0) {
    return <ErrorState error={pages.error} onRetry={pages.retry} />
  }
  if (!pages.isPending && pages.rows.length === 0) return <Panel>{empty}</Panel>
  return (
    <Panel flush>
      <SideScroll label={label}>
        <Table
          className={classes.table}
          data-stale={pages.isStale || undefined}
          aria-label={label}
          aria-busy={pages.isPending}
          horizontalSpacing={8}
        >
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.key} {...cell(column)}>
                  {column.header || <VisuallyHidden>{t('actions')}</VisuallyHidden>}
                  {column.isTime ? (
                    <span className={classes.zone}> {zoneName(language)}</span>
                  ) : null}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pages.isPending ? <PlaceholderRows columns={columns} /> : null}
            {pages.rows.map((row) => (
              <DataRow key={props.rowId(row)} row={row} {...props} />
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
      <Foot pages={pages} />
    </Panel>
  )
}

function DataRow<Row>({
  row,
  columns,
  rowId,
  onOpen,
  openId,
}: DataTableProps<Row> & { readonly row: Row }) {
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

function cell<Row>({ align, width, minor, wide }: Column<Row>) {
  return {
    ...(align ? { 'data-align': align } : {}),
    ...(wide ? { 'data-wide': true } : {}),
    ...(width === undefined ? {} : { w: width }),
    ...(minor ? { visibleFrom: 'sm' } : {}),
  } as const
}

/** On a phone the table head is hidden, so each cell has a label. */
function labelOf<Row>({ header }: Column<Row>): string | undefined {
  return typeof header === 'string' && header !== '' ? header : undefined
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

function Foot<Row>({ pages }: { readonly pages: DataTableProps<Row>['pages'] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (pages.isPending) {
    return (
      <VisuallyHidden role="status" aria-label={t('loading')}>
        {t('loading')}
      </VisuallyHidden>
    )
  }
  const count = formatNumber(pages.rows.length, language)
  return (
    <Group justify="space-between" className={classes.foot}>
      <Text size="xs" c="dimmed">
        {pages.hasMore ? t('shown', { count }) : t('allShown', { count })}
      </Text>
      {pages.hasMore ? (
        <Button
          variant="default"
          size="compact-sm"
          loading={pages.isLoadingMore}
          onClick={pages.loadMore}
        >
          {t('loadMore')}
        </Button>
      ) : null}
    </Group>
  )
}
