/** The models that an account can call, with their prices. */
import { Stack, Text, Title } from '@mantine/core'
import { CopyText } from '../../components/copy-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { FilteredEmpty } from '../../components/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/filters.tsx'
import { KeyValue } from '../../components/key-value.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { PriceList } from '../../components/price-list.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { type RowOf, useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const LIST = 'GET /accounts/:account_id/models'
const ONE = 'GET /accounts/:account_id/models/:model_id'
const TYPES = [
  'chat',
  'embedding',
  'speech',
  'search',
  'minutes',
  'video',
  'image',
  'ast',
  'transcription',
]
type Model = RowOf<typeof LIST>

export function Page() {
  const t = useMessages(messages)
  const { id: accountId } = useAccount()
  const url = useUrlState(['search', 'type', 'id'])
  const { id: openId, ...filters } = url.values
  const request = { params: { account_id: accountId }, query: asQuery(LIST, filters) }
  const pages = useAdminPages(LIST, request, { keepPrevious: true })
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Filters>
        <TextFilter
          label={t('search')}
          value={filters.search}
          onChange={(search) => url.set({ search })}
        />
        <SelectFilter
          label={t('type')}
          value={filters.type}
          options={TYPES.map((value) => ({ value, label: value }))}
          onChange={(type) => url.set({ type })}
        />
      </Filters>
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns()}
        rowId={(row) => row.id}
        onOpen={(row) => url.push({ id: row.id })}
        openId={openId}
        empty={
          <FilteredEmpty
            icon="box"
            isFiltered={filters.search !== '' || filters.type !== ''}
            onClear={() => url.set({ search: '', type: '' })}
            title={t('emptyTitle')}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <DetailDrawer isOpen={openId !== ''} title={openId} onClose={() => url.push({ id: '' })}>
        {openId === '' ? null : <Details accountId={accountId} modelId={openId} />}
      </DetailDrawer>
    </>
  )
}

function useColumns(): Column<Model>[] {
  const t = useMessages(messages)
  return [
    { key: 'model', header: t('model'), render: (row) => row.id },
    { key: 'type', header: t('type'), render: (row) => row.type },
    { key: 'prices', header: t('prices'), render: (row) => <Prices model={row} most={3} /> },
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
  ]
}

function Prices({ model, most }: { readonly model: Model; readonly most?: number }) {
  const t = useMessages(messages)
  if (model.free) {
    return (
      <Text size="sm" c="dimmed">
        {t('free')}
      </Text>
    )
  }
  return <PriceList currency={model.currency} prices={model.prices.slice(0, most)} />
}

interface DetailsProps {
  readonly accountId: string
  readonly modelId: string
}

function Details({ accountId, modelId }: DetailsProps) {
  const t = useMessages(messages)
  const { data } = useAdmin(ONE, { params: { account_id: accountId, model_id: modelId } })
  if (!data) return null
  const limits = Object.entries(data.limits).map(([name, limit]) => `${name}: ${limit}`)
  return (
    <Stack gap="lg">
      <KeyValue
        facts={[
          { label: t('id'), value: <CopyText value={data.id} /> },
          { label: t('type'), value: data.type },
          { label: t('by'), value: data.owned_by || undefined },
          { label: t('about'), value: data.description ?? undefined },
          { label: t('prices'), value: <Prices model={data} /> },
          {
            label: t('endpoints'),
            value: data.endpoints.map((path) => (
              <Text key={path} size="xs" ff="monospace">
                {path}
              </Text>
            )),
          },
          { label: t('limits'), value: limits.length > 0 ? limits.join(', ') : undefined },
        ]}
      />
      <TextLink to="/usage" search={{ model: data.id }} size="sm">
        {t('calls')}
      </TextLink>
      {data.price_history.length > 1 ? (
        <section>
          <Title order={3} size="h4">
            {t('history')}
          </Title>
          <Text size="xs" c="dimmed" mb="xs">
            {t('historyText')}
          </Text>
          {data.price_history.map((one) => (
            <div key={one.version}>
              <Text size="xs" c="dimmed">
                {t('from')} <TimeText time={one.effective_from} form="full" />
              </Text>
              <PriceList currency={one.currency} prices={one.prices} />
            </div>
          ))}
        </section>
      ) : null}
    </Stack>
  )
}
