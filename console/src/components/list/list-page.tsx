/** A page of one filtered list: its header, its filters, its rows, and its details as children. */
import type { ReactNode } from 'react'
import type { ListState } from '../../lib/list-state.ts'
import type { IconName } from '../icon.tsx'
import { PageHeader } from '../page/page-header.tsx'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { FilteredEmpty } from './filtered-empty.tsx'
import { Filters } from './filters.tsx'

interface ListPageProps<Row> extends Pick<DataTableProps<Row>, 'pages' | 'columns' | 'rowId'> {
  readonly title: string
  readonly description: string
  readonly actions?: ReactNode
  readonly filters: ReactNode
  readonly list: Pick<ListState<never>, 'open' | 'openId' | 'isFiltered' | 'clearFilters'>
  /** Shown where there are no rows and no filters. */
  readonly empty: {
    readonly icon: IconName
    readonly title: string
    readonly text: string
    readonly action?: ReactNode
  }
  readonly children?: ReactNode
}

export function ListPage<Row>(props: ListPageProps<Row>) {
  const { title, list, rowId, empty } = props
  return (
    <>
      <PageHeader title={title} description={props.description} actions={props.actions} />
      <Filters>{props.filters}</Filters>
      <DataTable
        label={title}
        pages={props.pages}
        columns={props.columns}
        rowId={rowId}
        onOpen={(row) => list.open(rowId(row))}
        openId={list.openId}
        empty={
          <FilteredEmpty
            icon={empty.icon}
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={empty.title}
            action={empty.action}
          >
            {empty.text}
          </FilteredEmpty>
        }
      />
      {props.children}
    </>
  )
}
