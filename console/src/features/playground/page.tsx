/** The playground: real calls of every capability, with result, cost and code. */
import { Group, Loader, Select, Stack, Tabs, Text } from '@mantine/core'
import { Suspense } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount, useSession } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { CAPABILITIES, modelsFor, type Tried } from './capabilities.tsx'
import { KeyProvider } from './frame/call/use-key.tsx'
import type { PlaygroundModel } from './frame/capability.ts'
import { Disclosure } from './frame/fields/disclosure.tsx'
import { messages } from './messages.ts'
import classes from './page.module.css'

const MODELS_MAX = 500

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const { data, error, refetch } = useAdmin('GET /accounts/:account_id/models', {
    params: { account_id: account.id },
    query: { limit: MODELS_MAX },
  })
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {account.mayCall ? null : <EmptyState icon="key" title={t('noCalls')} />}
      {data && account.mayCall ? (
        <KeyProvider>
          <Kinds models={data.data} />
        </KeyProvider>
      ) : null}
    </>
  )
}

function Kinds({ models }: { readonly models: readonly PlaygroundModel[] }) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  const url = useUrlState(['kind', 'model'])
  const { kind, model } = url.values
  const named = models.find(({ id }) => id === model)
  const tried =
    CAPABILITIES.find(({ id }) => id === kind) ??
    CAPABILITIES.find((one) => named && modelsFor(one, [named]).length > 0) ??
    CAPABILITIES[0]
  if (!tried) return null
  return (
    <Tabs
      value={tried.id}
      onChange={(id) => url.set({ kind: id ?? '', model: '' })}
      keepMounted={false}
    >
      <Tabs.List className={classes.kinds} aria-label={t('kinds')}>
        {CAPABILITIES.map(({ id, label, icon }) => (
          <Tabs.Tab
            key={id}
            value={id}
            leftSection={<Icon name={icon} size={16} />}
            ref={id === tried.id ? showWhole : undefined}
          >
            {label === 'compare' ? t(label) : typeName(label)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tried.id} pt="md">
        <Trial
          key={tried.id}
          tried={tried}
          models={modelsFor(tried, models)}
          modelId={model}
          onChoose={(id) => url.set({ kind: tried.id, model: id })}
        />
      </Tabs.Panel>
    </Tabs>
  )
}

/** Scrolls the selected tab into view on a phone. */
function showWhole(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'center' })
}

interface TrialProps {
  readonly tried: Tried
  readonly models: readonly PlaygroundModel[]
  readonly modelId: string
  readonly onChoose: (id: string) => void
}

function Trial({ tried, models, modelId, onChoose }: TrialProps) {
  const { Bench } = tried
  const model = models.find(({ id }) => id === modelId) ?? models[0]
  if (!model) return <NoModel />
  const picker = <Picker model={model} models={models} onChoose={onChoose} />
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <Bench model={model} models={models} picker={picker} />
    </Suspense>
  )
}

function NoModel() {
  const t = useMessages(messages)
  const { session } = useSession()
  return (
    <Panel>
      <EmptyState
        icon="box"
        title={t('noModelTitle')}
        action={
          session.user.operator ? (
            <ButtonLink to="/operator/models">{t('toOperatorModels')}</ButtonLink>
          ) : (
            <ButtonLink to="/models" variant="default">
              {t('toModels')}
            </ButtonLink>
          )
        }
      >
        {t('noModelText')}
      </EmptyState>
    </Panel>
  )
}

interface PickerProps {
  readonly model: PlaygroundModel
  readonly models: readonly PlaygroundModel[]
  readonly onChoose: (id: string) => void
}

function Picker({ model, models, onChoose }: PickerProps) {
  const t = useMessages(messages)
  const nameOf = new Map(models.map(({ id, display_name: name }) => [id, name]))
  return (
    <Stack gap={6}>
      <Select
        label={t('model')}
        data={models.map(({ id }) => id)}
        value={model.id}
        onChange={(id) => onChoose(id ?? '')}
        renderOption={({ option }) => (
          <Stack gap={0}>
            <Text size="sm">{nameOf.get(option.value)}</Text>
            <Text size="xs" c="dimmed">
              {option.value}
            </Text>
          </Stack>
        )}
        searchable
        allowDeselect={false}
      />
      <Disclosure label={t('prices')}>
        <Group>
          <PriceLines currency={model.currency} prices={model.prices} />
        </Group>
      </Disclosure>
    </Stack>
  )
}
