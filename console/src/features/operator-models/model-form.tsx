/** Form that adds or changes a model: prices, routes, limits. */
import { Button, Group, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { MODEL_TYPES } from '../../../../server/money/catalog/model-types.ts'
import { Advanced } from '../../components/form/advanced.tsx'
import { ChangesDialog } from '../../components/form/changes-dialog.tsx'
import { CheckedForm, useFieldError } from '../../components/form/checked-form.tsx'
import { InvalidField } from '../../components/form/invalid-field.ts'
import { listChanges } from '../../components/form/list-changes.ts'
import { type PriceDraft, readDrafts } from '../../components/form/prices/price-draft.ts'
import { PriceRows } from '../../components/form/prices/price-rows.tsx'
import { useConfirmedSave } from '../../components/form/use-confirmed-save.ts'
import { CallCost } from '../../components/prices/call-cost.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import {
  listWithdrawn,
  type ModelDraft,
  type Routing,
  toModelBody,
  type UnpricedTools,
} from './draft.ts'
import { messages } from './messages.ts'
import { RouteRows } from './row-fields.tsx'

interface ModelFormProps {
  readonly initial: ModelDraft
  readonly isNew?: boolean
  /** Of the model as it was read. A gateway of an earlier version sends none. */
  readonly revision?: string | undefined
  /** Prices to start with beside those of `initial`. */
  readonly added?: readonly PriceDraft[]
  /** The planned prices of the model. */
  readonly planned?: readonly { readonly effective_from: string }[]
  readonly onSaved: (id: string) => void
}

export function ModelForm({ added = [], planned = [], onSaved, ...model }: ModelFormProps) {
  const t = useMessages(messages)
  // As it was opened: what others change meanwhile is read again, but is not in this form.
  const [{ initial, isNew = false, revision }] = useState(model)
  const [draft, setDraft] = useState<ModelDraft>({
    ...initial,
    prices: [...initial.prices, ...added],
  })
  const change = useAdminChange('PUT /operator/models/:model_id')
  const set = (more: Partial<ModelDraft>) => setDraft({ ...draft, ...more })
  const id = draft.id.trim()
  const confirmed = useConfirmedSave(async (body: ReturnType<typeof toModelBody>) => {
    await change.mutateAsync({ params: { model_id: id }, body, isNew, revision })
    notifyDone(t('saved', { id }))
    onSaved(id)
  })
  const submit = () => {
    try {
      const body = toModelBody(draft, t('badJson'))
      if (isNew) confirmed.save(body)
      else {
        const changes = listChanges(toModelBody(initial, t('badJson')), body)
        confirmed.ask(body, [...changes, ...listWithdrawn(initial, draft, planned)])
      }
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error
      confirmed.fail(error)
    }
  }
  return (
    <>
      <CheckedForm
        failure={confirmed.failure}
        isBusy={confirmed.isBusy}
        onSubmit={submit}
        actions={
          <Group justify="flex-end">
            <Button type="submit" loading={confirmed.isBusy}>
              {isNew ? t('add') : t('save')}
            </Button>
          </Group>
        }
      >
        <Fields draft={draft} isNew={isNew} set={set} />
      </CheckedForm>
      <ChangesDialog title={t('saveTitle', { id })} act={t('save')} {...confirmed.dialog} />
    </>
  )
}

interface FieldsProps {
  readonly draft: ModelDraft
  readonly isNew: boolean
  readonly set: (more: Partial<ModelDraft>) => void
}

function Fields({ draft, isNew, set }: FieldsProps) {
  const t = useMessages(messages)
  const channels = useAdmin('GET /operator/channels', {})
  return (
    <>
      <Basics draft={draft} isNew={isNew} set={set} />
      {draft.isFree ? null : (
        <>
          <PriceRows
            param="prices"
            title={t('prices')}
            act={t('addPrice')}
            rows={draft.prices}
            onChange={(prices) => set({ prices })}
          />
          <CallCost
            currency={draft.currency}
            prices={readDrafts(draft.prices)}
            hasOutput={draft.type !== 'embedding'}
          />
        </>
      )}
      <RouteRows
        rows={draft.routes}
        channels={(channels.data?.data ?? []).map((channel) => channel.id)}
        onChange={(routes) => set({ routes })}
      />
      <Advanced>
        {draft.isFree ? null : <ToolsField draft={draft} set={set} />}
        <RoutingField draft={draft} set={set} />
        <JsonField
          param="limits"
          label={t('limits')}
          value={draft.limits}
          set={(limits) => set({ limits })}
        />
        <JsonField
          param="details"
          label={t('details')}
          value={draft.details}
          set={(details) => set({ details })}
        />
      </Advanced>
    </>
  )
}

function Basics({ draft, isNew, set }: FieldsProps) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  const errors = {
    id: useFieldError('id'),
    type: useFieldError('type'),
    currency: useFieldError('currency'),
    free: useFieldError('free'),
  }
  return (
    <>
      {isNew ? (
        <TextInput
          label={t('id')}
          description={t('idNote')}
          required
          maxLength={128}
          data-autofocus
          error={errors.id}
          value={draft.id}
          onChange={({ currentTarget }) => set({ id: currentTarget.value })}
        />
      ) : null}
      <Group gap="sm" align="flex-end">
        <Select
          label={t('type')}
          w={140}
          data={MODEL_TYPES.map((value) => ({ value, label: typeName(value) }))}
          allowDeselect={false}
          error={errors.type}
          value={draft.type}
          onChange={(type) => set({ type: type ?? draft.type })}
        />
        <TextInput
          label={t('currency')}
          w={90}
          error={errors.currency}
          value={draft.currency}
          onChange={({ currentTarget }) => set({ currency: currentTarget.value.toUpperCase() })}
        />
        <Switch
          label={t('free')}
          mb={8}
          error={errors.free}
          aria-invalid={errors.free !== undefined}
          checked={draft.isFree}
          onChange={({ currentTarget }) => set({ isFree: currentTarget.checked })}
        />
      </Group>
    </>
  )
}

const ANSWERS: readonly UnpricedTools[] = ['take_out', 'refuse']

function ToolsField({ draft, set }: Pick<FieldsProps, 'draft' | 'set'>) {
  const t = useMessages(messages)
  return (
    <Select
      label={t('unpricedTools')}
      description={t('unpricedToolsNote')}
      data={ANSWERS.map((value) => ({ value, label: t(`unpricedTools_${value}`) }))}
      allowDeselect={false}
      error={useFieldError('unpriced_tools')}
      value={draft.unpricedTools}
      onChange={(value) => set({ unpricedTools: value === 'refuse' ? 'refuse' : 'take_out' })}
    />
  )
}

const ORDERS: readonly Routing[] = ['priority', 'cheapest']

function RoutingField({ draft, set }: Pick<FieldsProps, 'draft' | 'set'>) {
  const t = useMessages(messages)
  return (
    <Select
      label={t('routing')}
      description={t('routingNote')}
      data={ORDERS.map((value) => ({ value, label: t(`routing_${value}`) }))}
      allowDeselect={false}
      error={useFieldError('routing')}
      value={draft.routing}
      onChange={(value) => set({ routing: value === 'cheapest' ? 'cheapest' : 'priority' })}
    />
  )
}

interface JsonFieldProps {
  readonly param: string
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
}

function JsonField({ param, label, value, set }: JsonFieldProps) {
  return (
    <Textarea
      label={label}
      autosize
      minRows={1}
      maxRows={12}
      error={useFieldError(param)}
      styles={{ input: { fontFamily: 'monospace', fontSize: 12 } }}
      value={value}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  )
}
