/** A page of one filtered list: its header, its filters, its rows, and the details of one. */
import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import type { ListState } from '../../lib/list-state.ts'
import type { Catalogue } from '../../lib/texts.ts'
import type { IconName } from '../icon.tsx'
import { PageHeader } from '../page/page-header.tsx'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { DetailDrawer } from './detail-drawer.tsx'
import { FieldFacts, type RowFields, useColumns, useWording, type Wording } from './fields.tsx'
import { FilteredEmpty } from './filtered-empty.tsx'
import { type ListFilter, ListFilters } from './list-filters.tsx'

interface PageTexts extends Readonly<Record<string, string>> {
  readonly title: string
  readonly description: string
  /** Shown where there are no rows and no filters. */
  readonly emptyTitle: string
  readonly emptyText: string
}

interface ListPageProps<Row, Words extends PageTexts, Name extends string>
  extends Pick<DataTableProps<Row>, 'pages' | 'rowId'> {
  readonly messages: Catalogue<Words>
  readonly fields: RowFields<Row, Words>
  readonly filters: readonly ListFilter<Words, Name>[]
  readonly list: ListState<Name>
  readonly icon: IconName
  readonly actions?: ReactNode
  readonly emptyAction?: ReactNode
  /** The open row's facts; pages that fetch more of it give a drawer of their own as children. */
  readonly drawer?: {
    readonly title: (row: Row, wording: Wording<Words>) => string
    readonly above?: (row: Row) => ReactNode
    readonly below?: (row: Row) => ReactNode
  }
  readonly children?: ReactNode
}

export function ListPage<Row, Words extends PageTexts, Name extends string>(
  props: ListPageProps<Row, Words, Name>,
) {
  const { messages, fields, list, pages, rowId, drawer } = props
  const t = useMessages<PageTexts>(messages)
  const wording = useWording(messages)
  const open = drawer && pages.rows.find((row) => rowId(row) === list.openId)
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={props.actions} />
      <ListFilters messages={messages} list={list} filters={props.filters} />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(messages, fields)}
        rowId={rowId}
        onOpen={(row) => list.open(rowId(row))}
        openId={list.openId}
        empty={
          <FilteredEmpty
            icon={props.icon}
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
            action={props.emptyAction}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      {drawer ? (
        <DetailDrawer
          isOpen={open !== undefined}
          title={open ? drawer.title(open, wording) : ''}
          onClose={list.close}
        >
          {open ? (
            <Stack gap="md">
              {drawer.above?.(open)}
              <FieldFacts messages={messages} fields={fields} row={open} />
              {drawer.below?.(open)}
            </Stack>
          ) : null}
        </DetailDrawer>
      ) : null}
      {props.children}
    </>
  )
}
