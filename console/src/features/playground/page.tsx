/** Every capability, tried for real: what is sent, what comes, what it cost, and the same call. */
import { Box, Button, Group, Select, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useRef, useState } from 'react'
import { CodeSnippet } from '../../components/code-snippet.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { PriceList } from '../../components/price-list.tsx'
import { formatMoney } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { Result } from './result.tsx'
import { type Outcome, runTrial } from './run-trial.ts'
import { curlOf, type Trial, WAYS } from './ways.ts'

const MODELS_MAX = 200

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const models = useAdmin('GET /accounts/:account_id/models', {
    params: { account_id: account.id },
    query: { limit: MODELS_MAX },
  })
  const tried = (models.data?.data ?? []).flatMap(({ id, type, endpoints, currency, prices }) => {
    const path = endpoints.find((endpoint) => WAYS[endpoint])
    return path ? [{ id, type, path, currency, prices }] : []
  })
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      {tried.length > 0 ? <Bench models={tried} /> : null}
      {models.data && tried.length === 0 ? (
        <Panel>
          <EmptyState icon="play" title={t('noModelTitle')}>
            {t('noModelText')}
          </EmptyState>
        </Panel>
      ) : null}
    </>
  )
}

interface Tried {
  readonly id: string
  readonly type: string
  readonly path: string
  readonly currency: string
  readonly prices: Parameters<typeof PriceList>[0]['prices']
}

function Bench({ models }: { readonly models: readonly Tried[] }) {
  const t = useMessages(messages)
  const url = useUrlState(['model'])
  const [typed, setTyped] = useState<string>()
  const first = models.find(({ type }) => type === 'chat') ?? models[0]
  const chosen = models.find(({ id }) => id === url.values.model) ?? first
  const way = chosen && WAYS[chosen.path]
  const trial = chosen && way && { ...chosen, way, model: chosen.id, text: typed ?? way.sample }
  const run = useTrial()
  if (!trial) return null
  const types = [...new Set(models.map(({ type }) => type))]
  const choices = types.map((type) => ({
    group: type,
    items: models.filter((one) => one.type === type).map(({ id }) => id),
  }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Stack gap="md">
        <Panel>
          <Stack gap="sm">
            <Select
              label={t('model')}
              data={choices}
              value={trial.model}
              onChange={(model) => {
                url.set({ model: model ?? '' })
                setTyped(undefined)
              }}
              searchable
              allowDeselect={false}
            />
            <Box>
              <Text size="xs" c="dimmed">
                {t('price')}
              </Text>
              <PriceList currency={trial.currency} prices={trial.prices} />
            </Box>
            <Textarea
              label={t('input')}
              value={trial.text}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autosize
              minRows={4}
              maxRows={14}
            />
            <Group justify="space-between">
              <Available />
              {run.isBusy ? (
                <Button variant="default" onClick={run.stop}>
                  {t('stop')}
                </Button>
              ) : (
                <Button onClick={() => void run.start(trial)}>{t('send')}</Button>
              )}
            </Group>
          </Stack>
        </Panel>
        <Panel title={t('snippet')}>
          <CodeSnippet code={curlOf(trial)} />
        </Panel>
      </Stack>
      <Result {...run} />
    </SimpleGrid>
  )
}

function Available() {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const account = useAccount()
  const { data } = useAdmin(
    'GET /accounts/:account_id/balance',
    { params: { account_id: account.id } },
    { live: ['balance'] },
  )
  if (!data) return <span />
  const { available, currency } = data
  const amount = formatMoney(available, { currency, language, places: 6 })
  return (
    <Text size="sm" c="dimmed">
      {t('available', { amount })}
    </Text>
  )
}

/** One call at a time, with the playground's own key. */
function useTrial() {
  const account = useAccount()
  const takeKey = useAdminChange('POST /accounts/:account_id/playground-key', { refreshes: [] })
  const [isBusy, setBusy] = useState(false)
  const [partial, setPartial] = useState('')
  const [outcome, setOutcome] = useState<Outcome>()
  const [failure, setFailure] = useState<Error>()
  const abort = useRef<AbortController>(undefined)
  const start = async (trial: Trial) => {
    setBusy(true)
    setPartial('')
    setOutcome(undefined)
    setFailure(undefined)
    const controller = new AbortController()
    abort.current = controller
    try {
      const { key } =
        takeKey.data ?? (await takeKey.mutateAsync({ params: { account_id: account.id } }))
      const options = { key, signal: controller.signal, onText: setPartial }
      setOutcome(await runTrial(trial, options))
    } catch (error) {
      if (controller.signal.aborted) return
      setFailure(error instanceof Error ? error : new Error(String(error)))
      // An hour may have passed: the next call asks for another key.
      takeKey.reset()
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, partial, outcome, failure, start, stop: () => abort.current?.abort() }
}
