/** The frame of every capability: the form at the left, the result at the right. */
import { Stack } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { Panel } from '../../../components/page/panel.tsx'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import classes from './bench.module.css'
import { Code } from './call/code.tsx'
import { PlaygroundOutcome } from './call/outcome.tsx'
import { type PlaygroundCall, useCall } from './call/use-call.ts'
import { type Capability, type PlaygroundModel, startIn } from './capability.ts'
import { CostAfter } from './cost/cost-after.tsx'
import { messages } from './messages.ts'
import type { PlaygroundRequest } from './order.ts'
import { Ask } from './send-bar.tsx'

export interface BenchProps {
  readonly model: PlaygroundModel
  /** All models that the capability can use. */
  readonly models: readonly PlaygroundModel[]
  /** The model selector, above the fields. */
  readonly picker: ReactNode
}

interface Props<Values, Result> extends Omit<BenchProps, 'models'> {
  readonly capability: Capability<Values, Result>
}

export function Bench<Values, Result>({ capability, model, picker }: Props<Values, Result>) {
  const t = useMessages(messages)
  const { Fields, Prompt } = capability
  const { values, change, send, control } = useForm(capability)
  const { call, isRunning, stop } = control
  const order = capability.toOrder(model, values)
  const shownOrder = order ?? call?.order
  const fields = { model, values, change }
  const form = useRef<HTMLFormElement>(null)
  const outcome = useRef<HTMLDivElement>(null)
  const ask = <Ask order={order} isRunning={isRunning} onStop={stop} />
  const prompt = Prompt ? (
    <Stack gap="sm">
      <Prompt {...fields} />
      {ask}
    </Stack>
  ) : undefined
  return (
    <form
      ref={form}
      className={classes.bench}
      onSubmit={(event) => {
        event.preventDefault()
        if (!order || isRunning) return
        void send(order)
        showBelow(outcome.current)
      }}
      onKeyDown={(event) => {
        const isSend = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
        if (isSend) form.current?.requestSubmit()
      }}
    >
      <div className={classes.column}>
        <Panel title={t('settings')}>
          <Stack gap="sm">
            {picker}
            <Fields {...fields} />
            {prompt ? null : ask}
          </Stack>
        </Panel>
      </div>
      <div className={classes.column}>
        <div ref={outcome}>
          <PlaygroundOutcome call={call} capability={capability} values={values} prompt={prompt} />
        </div>
        {call?.requestId && !isRunning ? (
          <CostAfter key={call.requestId} requestId={call.requestId} />
        ) : null}
        {shownOrder ? <Code order={shownOrder} /> : null}
      </div>
    </form>
  )
}

/** Scrolls to the result, which is below the form on a phone. */
function showBelow(result: HTMLElement | null): void {
  const isSeen = (result?.getBoundingClientRect().top ?? 0) < innerHeight / 2
  if (!isSeen) result?.scrollIntoView({ block: 'nearest' })
}

/** Keeps the form's values, which an answer may change: a conversation continues. */
function useForm<Values, Result>(capability: Capability<Values, Result>) {
  const { language } = useLanguage()
  const [values, setValues] = useState(() => startIn(language, capability))
  const control = useCall(capability)
  const change = (changes: Partial<Values>) => setValues((now) => ({ ...now, ...changes }))
  async function send(order: PlaygroundRequest): Promise<void> {
    const before = values
    if (capability.afterSend) setValues(capability.afterSend(before))
    const outcome: PlaygroundCall<Result> = await control.start(order)
    const { result } = outcome
    if (result === undefined) setValues((now) => (capability.afterSend ? before : now))
    else if (capability.afterAnswer) {
      const afterAnswer = capability.afterAnswer
      setValues((now) => afterAnswer(now, result))
    }
  }
  return { values, change, send, control }
}
