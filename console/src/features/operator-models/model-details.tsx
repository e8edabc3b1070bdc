/** One model: current and past prices, routes, and editing. */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import type { PriceDraft } from '../../components/form/prices/price-draft.ts'
import { TextLink } from '../../components/links.tsx'
import { Margins } from '../../components/prices/margins.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { toModelDraft } from './draft.ts'
import { messages } from './messages.ts'
import { ModelForm } from './model-form.tsx'
import { PlannedPrices } from './planned-prices.tsx'
import { PriceProblems } from './price-problems.tsx'
import { RouteOrder } from './route-order.tsx'
import { shareRoutes } from './route-shares.ts'
import { OfferedTools } from './taken-out.tsx'

const TONES = { planned: 'busy', current: 'good', past: 'quiet', withdrawn: 'quiet' } as const

type Model = AdminAnswer<'GET /operator/models/:model_id'>

interface ModelDetailsProps {
  readonly model: Model
  readonly onClose: () => void
}

export function ModelDetails({ model, onClose }: ModelDetailsProps) {
  const t = useMessages(messages)
  const textOf = useServerText()
  /** The prices to add in the form; undefined while it is closed. */
  const [added, setAdded] = useState<readonly PriceDraft[]>()
  if (added) {
    return (
      <ModelForm
        initial={toModelDraft(model)}
        added={added}
        planned={model.planned_prices}
        revision={model.revision}
        onSaved={() => setAdded(undefined)}
      />
    )
  }
  return (
    <Stack gap="lg">
      {model.warnings.map((warning) => (
        <Notice key={warning} tone="warning" title={textOf(warning)} />
      ))}
      <PriceProblems problems={model.price_problems} />
      <Facts model={model} />
      <Group gap="xs">
        <Button variant="default" onClick={() => setAdded([])}>
          {t('edit')}
        </Button>
        {model.status === 'active' ? <Retire id={model.id} onRetired={onClose} /> : null}
      </Group>
      <OfferedTools model={model} onAdd={setAdded} />
      <Margins margins={model.margins} currency={model.currency ?? 'CNY'} />
      <PlannedPrices model={model} />
      <History model={model} />
    </Stack>
  )
}

function Facts({ model }: { readonly model: Model }) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  const { language } = useLanguage()
  const { currency, prices, free, routes, fallbacks } = model
  const shares = shareRoutes(routes)
  return (
    <KeyValue
      facts={[
        { label: t('type'), value: typeName(model.type) },
        { label: t('status'), value: <WorkStatus status={model.status} /> },
        {
          label: t('prices'),
          value: free ? t('free') : <PriceLines currency={currency ?? 'CNY'} prices={prices} />,
        },
        {
          label: t('routes'),
          value: [
            ...routes.map((route, index) => (
              <div key={`${route.channel} ${route.upstream_model}`}>
                <TextLink to="/operator/channels" search={{ id: route.channel }}>
                  {route.channel}
                </TextLink>{' '}
                <Text component="span" size="xs" c="dimmed">
                  {route.upstream_model} · {t('priority')} {route.priority} ·{' '}
                  {t('share', { share: formatShare(shares[index] ?? 0, language) })}
                </Text>
                <Costs currency={route.currency} costs={route.costs} />
              </div>
            )),
            ...fallbacks.map((fallback) => (
              <div key={`model ${fallback.model}`}>
                <TextLink to="/operator/models" search={{ id: fallback.model }}>
                  {fallback.model}
                </TextLink>{' '}
                <Text component="span" size="xs" c="dimmed">
                  {t('otherModel')} · {t('priority')} {fallback.priority}
                </Text>
              </div>
            )),
          ],
        },
        {
          label: t('routing'),
          value: model.route_order.length > 0 ? <RouteOrder model={model} /> : undefined,
        },
        { label: t('source'), value: model.source },
        { label: t('changed'), value: <TimeText time={model.updated_at} form="full" /> },
      ]}
    />
  )
}

interface CostsProps {
  readonly currency: string | undefined
  readonly costs: Model['prices'] | undefined
}

function Costs({ currency, costs }: CostsProps) {
  const t = useMessages(messages)
  return (
    <>
      <Text size="xs" c="dimmed">
        {costs ? t('costs') : t('noCosts')}
      </Text>
      {costs ? <PriceLines currency={currency ?? 'CNY'} prices={costs} /> : null}
    </>
  )
}

function History({ model }: { readonly model: Model }) {
  const t = useMessages(messages)
  if (model.price_history.length === 0) return null
  return (
    <section>
      <Title order={3} size="h4">
        {t('history')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('historyText')}{' '}
        <TextLink to="/operator/audit-log" search={{ target: model.id }} size="xs">
          {t('whoChanged')}
        </TextLink>
      </Text>
      <Stack gap="sm">
        {model.price_history.map((one) => (
          <div key={one.version}>
            <Group gap="xs">
              <Text size="xs" c="dimmed">
                {t('from')} <TimeText time={one.effective_from} form="full" /> ·{' '}
                {t('version', { version: one.version })}
              </Text>
              <StatusBadge tone={TONES[one.state]} label={t(`state_${one.state}`)} />
            </Group>
            <PriceLines currency={one.currency} prices={one.prices} />
          </div>
        ))}
      </Stack>
    </section>
  )
}

function Retire({ id, onRetired }: { readonly id: string; readonly onRetired: () => void }) {
  const t = useMessages(messages)
  const retire = useAdminChange('DELETE /operator/models/:model_id')
  return (
    <ConfirmButton
      title={`${t('retire')}: ${id}`}
      act={t('retire')}
      isDangerous
      onConfirm={async () => {
        await retire.mutateAsync({ params: { model_id: id } })
        notifyDone(t('retired', { id }))
        onRetired()
      }}
    >
      {t('retireText')}
    </ConfirmButton>
  )
}
