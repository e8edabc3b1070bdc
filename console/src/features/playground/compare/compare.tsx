/** Two or three chat models on one prompt, at the same time. */
import { Button, Group, Loader, Select, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { EmptyState } from '../../../components/list/empty-state.tsx'
import { Panel } from '../../../components/page/panel.tsx'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { useUrlState } from '../../../lib/url-state.ts'
import { chat } from '../chat/chat.ts'
import { ChatSettings } from '../chat/fields.tsx'
import { Prose } from '../chat/prose.tsx'
import type { ChatValues, Reply } from '../chat/values.ts'
import type { BenchProps } from '../frame/bench.tsx'
import { Code } from '../frame/call/code.tsx'
import { Failure } from '../frame/call/failure.tsx'
import { type CallControl, type PlaygroundCall, useCall } from '../frame/call/use-call.ts'
import { type PlaygroundModel, startIn } from '../frame/capability.ts'
import { CostBefore } from '../frame/cost/cost-before.tsx'
import type { PlaygroundRequest } from '../frame/order.ts'
import { PresetBar } from '../presets/preset-bar.tsx'
import { ComparisonTable } from './comparison-table.tsx'
import { messages } from './messages.ts'

export function Compare({ models }: BenchProps) {
  const t = useMessages(messages)
  if (models.length < 2) return <EmptyState icon="chat" title={t('twoModels')} />
  return <Comparison models={models} />
}

function Comparison({ models }: { readonly models: readonly PlaygroundModel[] }) {
  const t = useMessages(messages)
  const { chosen, choose } = useChosen(models)
  const { language } = useLanguage()
  const [values, setValues] = useState(() => startIn(language, chat))
  const change = (changes: Partial<ChatValues>) => setValues((now) => ({ ...now, ...changes }))
  // As many calls as there can be models.
  const controls = [useCall(chat), useCall(chat), useCall(chat)]
  const compared = chosen.flatMap((model, index): Compared[] => {
    const control = controls[index]
    if (!control) return []
    // After another model is chosen, its place may still have the answer of the one before.
    const call = control.call?.order.body.model === model.id ? control.call : undefined
    return [{ model, control, call, order: chat.toOrder(model, values) }]
  })
  const isRunning = compared.some(({ control }) => control.isRunning)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isRunning) return
        for (const { control, order } of compared) if (order) void control.start(order)
      }}
    >
      <Stack gap="md">
        <Panel title={t('models')}>
          <Stack gap="sm">
            <ModelChoices
              models={models}
              chosen={chosen}
              onChoose={(ids) => {
                for (const { stop, clear } of controls) {
                  stop()
                  clear()
                }
                choose(ids)
              }}
            />
            <PresetBar values={values} onChoose={change} />
            <ChatSettings values={values} change={change} />
          </Stack>
        </Panel>
        <Panel title={t('prompt')}>
          <Stack gap="sm">
            <Textarea
              aria-label={t('prompt')}
              value={values.draft}
              onChange={({ currentTarget }) => change({ draft: currentTarget.value })}
              autosize
              minRows={2}
              maxRows={10}
            />
            <SendAll compared={compared} isRunning={isRunning} />
          </Stack>
        </Panel>
        <Answers compared={compared} />
        <Requests compared={compared} />
      </Stack>
    </form>
  )
}

interface Compared {
  readonly model: PlaygroundModel
  readonly control: CallControl<Reply>
  readonly call: PlaygroundCall<Reply> | undefined
  /** Undefined while the prompt is empty. */
  readonly order: PlaygroundRequest | undefined
}

interface SendAllProps {
  readonly compared: readonly Compared[]
  readonly isRunning: boolean
}

function SendAll({ compared, isRunning }: SendAllProps) {
  const t = useMessages(messages)
  const stopAll = () => {
    for (const { control } of compared) control.stop()
  }
  return (
    <Group justify="flex-end">
      {isRunning ? (
        <Button variant="default" leftSection={<Icon name="stop" size={16} />} onClick={stopAll}>
          {t('stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          disabled={compared.some(({ order }) => order === undefined)}
          leftSection={<Icon name="send" size={16} />}
        >
          {t('send', { count: compared.length })}
        </Button>
      )}
    </Group>
  )
}

function Answers({ compared }: { readonly compared: readonly Compared[] }) {
  const t = useMessages(messages)
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: compared.length }} spacing="md">
        {compared.map(({ model, call, order }) => (
          <Panel key={model.id} title={model.id}>
            <Stack gap="sm">
              <CostBefore order={order} />
              <Answer call={call} />
            </Stack>
          </Panel>
        ))}
      </SimpleGrid>
      <Panel title={t('comparison')}>
        {compared.some(({ call }) => call) ? (
          <ComparisonTable compared={compared.map(({ model, call }) => ({ id: model.id, call }))} />
        ) : (
          <Text size="sm" c="dimmed">
            {t('nothing')}
          </Text>
        )}
      </Panel>
    </>
  )
}

/** The request to one of the models, as code. */
function Requests({ compared }: { readonly compared: readonly Compared[] }) {
  const t = useMessages(messages)
  const [chosen, setChosen] = useState(0)
  const index = Math.min(chosen, compared.length - 1)
  const { order, call } = compared[index] ?? {}
  const shown = order ?? call?.order
  if (!shown) return null
  return (
    <>
      <Select
        label={t('codeOf')}
        allowDeselect={false}
        maw={280}
        data={compared.map(({ model }, at) => ({ value: String(at), label: model.id }))}
        value={String(index)}
        onChange={(at) => setChosen(Number(at))}
      />
      <Code order={shown} />
    </>
  )
}

/** Keeps the compared models in the address; two by default. */
function useChosen(models: readonly PlaygroundModel[]) {
  const url = useUrlState(['models'])
  const named = url.values.models
    .split(',')
    .flatMap((id) => models.find((model) => model.id === id) ?? [])
  const distinct = [...new Set(named)].slice(0, 3)
  return {
    chosen: distinct.length < 2 ? models.slice(0, 2) : distinct,
    choose: (ids: readonly string[]) => url.set({ models: ids.join(',') }),
  }
}

interface ModelChoicesProps {
  readonly models: readonly PlaygroundModel[]
  readonly chosen: readonly PlaygroundModel[]
  readonly onChoose: (ids: readonly string[]) => void
}

function ModelChoices({ models, chosen, onChoose }: ModelChoicesProps) {
  const t = useMessages(messages)
  const ids = chosen.map(({ id }) => id)
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      {[0, 1, 2].map((place) => (
        <Select
          key={place}
          label={t('model', { number: place + 1 })}
          placeholder={t('third')}
          searchable
          clearable={place === 2}
          allowDeselect={place === 2}
          data={models.map(({ id }) => id).filter((id) => id === ids[place] || !ids.includes(id))}
          value={ids[place] ?? null}
          onChange={(id) => {
            const others = ids.filter((_, at) => at !== place)
            onChoose(id === null ? others : others.toSpliced(place, 0, id))
          }}
        />
      ))}
    </SimpleGrid>
  )
}

function Answer({ call }: { readonly call: PlaygroundCall<Reply> | undefined }) {
  if (!call) return null
  const { result, phase, failure } = call
  return (
    <div aria-live="polite" aria-busy={phase === 'running'}>
      {result ? <Prose text={result.text} /> : null}
      {phase === 'running' && !result ? <Loader size="sm" type="dots" /> : null}
      {failure ? <Failure error={failure} /> : null}
    </div>
  )
}
