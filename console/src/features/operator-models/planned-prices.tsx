/** Planned prices, which can be withdrawn until they take effect. */
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { readDrafts, toPrices } from '../../components/form/prices/price-draft.ts'
import { PriceRows } from '../../components/form/prices/price-rows.tsx'
import { PriceComparison } from '../../components/prices/price-comparison.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { toModelDraft } from './draft.ts'
import { messages } from './messages.ts'
import { PriceProblems } from './price-problems.tsx'

type Model = AdminAnswer<'GET /operator/models/:model_id'>
type Plan = Model['planned_prices'][number]

export function PlannedPrices({ model }: { readonly model: Model }) {
  const t = useMessages(messages)
  const [isPlanning, setPlanning] = useState(false)
  if (model.free || model.status !== 'active') return null
  return (
    <section>
      <Title order={3} size="h4">
        {t('planned')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('plannedText')}
      </Text>
      <Stack gap="sm">
        {model.planned_prices.map((plan) => (
          <OnePlan key={plan.version} model={model} plan={plan} />
        ))}
        {isPlanning ? (
          <PlanForm model={model} onDone={() => setPlanning(false)} />
        ) : (
          <Group>
            <Button variant="default" size="compact-sm" onClick={() => setPlanning(true)}>
              {t('plan')}
            </Button>
          </Group>
        )}
      </Stack>
    </section>
  )
}

function OnePlan({ model, plan }: { readonly model: Model; readonly plan: Plan }) {
  const t = useMessages(messages)
  const withdraw = useAdminChange('DELETE /operator/models/:model_id/planned-prices/:version')
  const { version, effective_from: from, prices } = plan
  const currency = model.currency ?? 'CNY'
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {t('from')} <TimeText time={from} form="full" />
        </Text>
        <ConfirmButton
          size="compact-xs"
          title={`${t('withdraw')}: ${model.id}`}
          act={t('withdraw')}
          isDangerous
          onConfirm={async () => {
            await withdraw.mutateAsync({ params: { model_id: model.id, version } })
            notifyDone(t('withdrawn'))
          }}
        >
          {t('withdrawText')}
        </ConfirmButton>
      </Group>
      <PriceComparison
        label={t('planned')}
        before={{ title: t('now'), currency, prices: model.prices }}
        after={{ title: t('planPrice'), currency, prices }}
      />
      <PriceProblems
        problems={plan.price_problems.filter(({ problem }) => problem !== 'unknown_cost')}
      />
    </div>
  )
}

const DAY_MS = 86_400_000

/** Returns tomorrow's midnight in the format of the browser's input. */
function tomorrow(): string {
  const at = new Date(Date.now() + DAY_MS)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T00:00`
}

function PlanForm({ model, onDone }: { readonly model: Model; readonly onDone: () => void }) {
  const t = useMessages(messages)
  const [at, setAt] = useState(tomorrow)
  const [prices, setPrices] = useState(toModelDraft(model).prices)
  const currency = model.currency ?? 'CNY'
  const change = useAdminChange('POST /operator/models/:model_id/planned-prices')
  const send = async () => {
    const body = {
      effective_from: new Date(at).toISOString(),
      prices: toPrices(prices),
    }
    await change.mutateAsync({ params: { model_id: model.id }, body })
    notifyDone(t('plannedDone', { id: model.id }))
    onDone()
  }
  return (
    <CheckedSubmitForm act={t('plan')} onSend={send} onCancel={onDone}>
      <CheckedField param="effective_from">
        {(error) => (
          <TextInput
            type="datetime-local"
            label={t('effectiveFrom')}
            description={t('effectiveFromNote')}
            required
            w={240}
            error={error}
            value={at}
            onChange={({ currentTarget }) => setAt(currentTarget.value)}
          />
        )}
      </CheckedField>
      <PriceRows
        param="prices"
        title={t('prices')}
        act={t('addPrice')}
        rows={prices}
        onChange={setPrices}
      />
      <PriceComparison
        label={t('planned')}
        before={{ title: t('now'), currency, prices: model.prices }}
        after={{ title: t('planPrice'), currency, prices: readDrafts(prices) }}
      />
    </CheckedSubmitForm>
  )
}
