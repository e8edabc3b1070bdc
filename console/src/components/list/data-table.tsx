/** A dense list that loads page by page. Rows open their details. */
import { Button, Group, Text, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { AdminPages } from '../../lib/use-admin.ts'
import { messages } from '../messages.ts'
import { Panel } from '../page/panel.tsx'
import { ErrorState, useErrorText } from '../state/error-state.tsx'
import classes from './data-table.module.css'
import { RowTable, type RowTableProps } from './row-table.tsx'

export type { Column } from './row-table.tsx'

export interface DataTableProps<Row>
  extends Pick<RowTableProps<Row>, 'label' | 'columns' | 'rowId' | 'onOpen' | 'openId'> {
  readonly pages: Pick<
    AdminPages<Row>,
    | 'rows'
    | 'error'
    | 'isPending'
    | 'isStale'
    | 'hasMore'
    | 'isLoadingMore'
    | 'moreError'
    | 'loadMore'
    | 'retry'
  >
  /** Shown in place of an empty table: EmptyState with the next step. */
  readonly empty: ReactNode
}

export function DataTable<Row>({ pages, empty, ...table }: DataTableProps<Row>) {
  if (pages.error && pages.rows.length === 0) {
    return <ErrorState error={pages.error} onRetry={pages.retry} />
  }
  if (!pages.isPending && pages.rows.length === 0) return <Panel>{empty}</Panel>
  const { rows, isPending, isStale } = pages
  return (
    <Panel flush>
      <RowTable {...table} rows={rows} isPending={isPending} isStale={isStale} />
      <Foot pages={pages} />
    </Panel>
  )
}

function Foot<Row>({ pages }: { readonly pages: DataTableProps<Row>['pages'] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const textOf = useErrorText()
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
      {pages.moreError ? (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {textOf(pages.moreError)}
        </Text>
      ) : null}
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
