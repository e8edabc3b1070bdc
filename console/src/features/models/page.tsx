/** The models that an account can call, with their prices. */
import { Text } from '@mantine/core'
import { MODEL_TYPES } from '../../../../server/catalog/model-types.ts'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { Details, Prices } from './model-details.tsx'

const LIST = 'GET /accounts/:account_id/models'
const SHOWN_PRICES = 3
type Model = RowOf<typeof LIST>

export function Page() {
  const t = useMessages(messages)
  const { id: accountId } = useAccount()
  const list = useListState(['search', 'type'])
  const { openId } = list
  const typeName = useModelTypeName()
  const request = { params: { account_id: accountId }, query: asQuery(LIST, list.filters) }
  const pages = useAdminPages(LIST, request, { keepPrevious: true })
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={
        <>
          <TextFilter label={t('search')} {...list.field('search')} />
          <SelectFilter
            label={t('type')}
            options={MODEL_TYPES.map((value) => ({ value, label: typeName(value) }))}
            {...list.field('type')}
          />
        </>
      }
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'box', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer isOpen={openId !== ''} title={openId} onClose={list.close}>
        {openId === '' ? null : <Details accountId={accountId} modelId={openId} />}
      </DetailDrawer>
    </ListPage>
  )
}

function useColumns(): Column<Model>[] {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  return [
    { key: 'model', header: t('model'), render: (row) => <Name model={row} /> },
    { key: 'type', header: t('type'), render: (row) => typeName(row.type) },
    {
      key: 'prices',
      header: t('prices'),
      render: (row) => <Prices model={row} most={SHOWN_PRICES} />,
      wide: true,
      isPlain: true,
    },
    {
      key: 'endpoints',
      header: t('endpoints'),
      render: (row) => (
        <Text size="xs" ff="monospace">
          {row.endpoints[0]}
        </Text>
      ),
      minor: true,
    },
    {
      key: 'copy',
      header: '',
      align: 'right',
      render: (row) => <CopyButton value={row.id} />,
      minor: true,
    },
  ]
}

function Name({ model: { id, owned_by: owner } }: { readonly model: Model }) {
  return (
    <>
      <Text component="span" inherit fw={500} style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
      {owner ? (
        <Text component="span" size="xs" c="dimmed" display="block">
          {owner}
        </Text>
      ) : null}
    </>
  )
}
