/** One model: its names, its current and past prices, and links to try it. */
import { Group, Loader, Stack, Text, Title } from '@mantine/core'
import { ButtonLink } from '../../components/links.tsx'
import { FieldFacts, type RowFields, type Wording } from '../../components/list/fields.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatNumber } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { Calculator } from './calculator.tsx'
import { messages } from './messages.ts'

const ONE = 'GET /accounts/:account_id/models/:model_id'
type Model = AdminAnswer<typeof ONE>

interface PricesProps {
  readonly model: Pick<Model, 'free' | 'currency' | 'prices'>
  readonly most?: number
}

export function Prices({ model, most = model.prices.length }: PricesProps) {
  const t = useMessages(messages)
  if (!model.free) return <PriceLines currency={model.currency} prices={model.prices} most={most} />
  return (
    <Text size="sm" c="dimmed">
      {t('free')}
    </Text>
  )
}

interface DetailsProps {
  readonly accountId: string
  readonly modelId: string
}

export function Details({ accountId, modelId }: DetailsProps) {
  const request = { params: { account_id: accountId, model_id: modelId } }
  const { data, error, refetch } = useAdmin(ONE, request)
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" />
  return (
    <Stack gap="lg">
      <ModelLinks model={data} />
      <FieldFacts messages={messages} fields={FIELDS} row={data} />
      {data.prices.length > 0 ? <Calculator currency={data.currency} prices={data.prices} /> : null}
      {data.price_history.length > 1 ? <PriceHistory model={data} /> : null}
    </Stack>
  )
}

function ModelLinks({ model: { id } }: { readonly model: Model }) {
  const t = useMessages(messages)
  return (
    <Group gap="xs">
      <ButtonLink to="/playground" search={{ model: id }} size="compact-sm">
        {t('tryIt')}
      </ButtonLink>
      <ButtonLink to="/usage" search={{ model: id }} variant="default" size="compact-sm">
        {t('calls')}
      </ButtonLink>
    </Group>
  )
}

const FIELDS: RowFields<Model, (typeof messages)['en']> = [
  { key: 'id', as: 'copy' },
  { key: 'type', as: 'kind' },
  { word: 'by', show: (model) => model.owned_by || undefined },
  { key: 'description', word: 'about' },
  { word: 'prices', show: (model) => <Prices model={model} /> },
  {
    word: 'endpoints',
    show: ({ endpoints }) => endpoints.map((path) => <EndpointPath key={path} path={path} />),
  },
  { word: 'limits', show: ({ limits }, wording) => nameLimits(limits, wording) || undefined },
]

const LIMITS = [
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_calls',
  'max_input_tokens',
  'max_output_tokens',
] as const

function nameLimits(
  limits: Model['limits'],
  { t, language }: Wording<(typeof messages)['en']>,
): string {
  const texts = LIMITS.flatMap((name) => {
    const limit = limits[name]
    return limit === undefined ? [] : [t(name, { limit: formatNumber(limit, language) })]
  })
  return texts.join(' · ')
}

export function EndpointPath({ path }: { readonly path: string | undefined }) {
  return (
    <Text size="xs" ff="monospace">
      {path}
    </Text>
  )
}

function PriceHistory({ model }: { readonly model: Model }) {
  const t = useMessages(messages)
  return (
    <section>
      <Title order={3} size="h4">
        {t('history')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('historyText')}
      </Text>
      <Stack gap="sm">
        {model.price_history.map((one) => (
          <div key={one.version}>
            <Text size="xs" c="dimmed">
              {t('from')} <TimeText time={one.effective_from} form="full" />
            </Text>
            <PriceLines currency={one.currency} prices={one.prices} />
          </div>
        ))}
      </Stack>
    </section>
  )
}
