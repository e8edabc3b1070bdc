/** The models that an account can call, with their prices. */
import { Text } from '@mantine/core'
import { MODEL_TYPES } from '../../../../server/money/catalog/model-types.ts'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import type { RowFields } from '../../components/list/fields.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { Details, EndpointPath, Prices } from './model-details.tsx'

const LIST = 'GET /accounts/:account_id/models'
const SHOWN_PRICES = 3
type Model = RowOf<typeof LIST>

const FIELDS: RowFields<Model, (typeof messages)['en']> = [
  { word: 'model', show: (row) => <Name model={row} /> },
  { key: 'type', as: 'kind' },
  {
    word: 'prices',
    show: (row) => <Prices model={row} most={SHOWN_PRICES} />,
    wide: true,
    isPlain: true,
  },
  { word: 'endpoints', minor: true, show: ({ endpoints }) => <EndpointPath path={endpoints[0]} /> },
  { align: 'right', minor: true, show: ({ id }) => <CopyButton value={id} /> },
]

export function Page() {
  const { id: accountId } = useAccount()
  const list = useListState(['search', 'type'])
  const { openId } = list
  const typeName = useModelTypeName()
  const types = MODEL_TYPES.map((value) => ({ value, label: typeName(value) }))
  const request = { params: { account_id: accountId }, query: asQuery(LIST, list.filters) }
  const pages = useAdminPages(LIST, request, { keepPrevious: true })
  return (
    <ListPage
      messages={messages}
      fields={FIELDS}
      filters={[
        { name: 'search', word: 'search' },
        { name: 'type', word: 'type', options: types },
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="box"
    >
      <DetailDrawer isOpen={openId !== ''} title={openId} onClose={list.close}>
        {openId === '' ? null : <Details accountId={accountId} modelId={openId} />}
      </DetailDrawer>
    </ListPage>
  )
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
