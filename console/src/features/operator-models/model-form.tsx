/** Form that adds or changes a model: prices, routes, limits. */
import { Button, Group, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { MODEL_TYPE_ORDER } from '../../lib/model-types.ts'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { BadJson, type ModelDraft, toModelBody } from './draft.ts'
import { messages } from './messages.ts'
import { PriceRows, RouteRows } from './row-fields.tsx'

interface ModelFormProps {
  readonly initial: ModelDraft
  readonly isNew: boolean
  readonly onSaved: (id: string) => void
}

export function ModelForm({ initial, isNew, onSaved }: ModelFormProps) {
  const t = useMessages(messages)
  const [draft, setDraft] = useState(initial)
  const [problem, setProblem] = useState<Error>()
  const change = useAdminChange('PUT /operator/models/:model_id')
  const channels = useAdmin('GET /operator/channels', {})
  const set = (more: Partial<ModelDraft>) => setDraft({ ...draft, ...more })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setProblem(undefined)
    const id = draft.id.trim()
    try {
      await change.mutateAsync({ params: { model_id: id }, body: toModelBody(draft) })
      notifyDone(t('saved', { id }))
      onSaved(id)
    } catch (error) {
      const isJson = error instanceof BadJson
      setProblem(isJson ? new Error(t('badJson', { field: error.message })) : (error as Error))
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <Basics draft={draft} isNew={isNew} set={set} />
        {draft.isFree ? null : (
          <PriceRows
            title={t('prices')}
            act={t('addPrice')}
            rows={draft.prices}
            onChange={(prices) => set({ prices })}
          />
        )}
        <RouteRows
          rows={draft.routes}
          channels={(channels.data?.data ?? []).map(({ id }) => id)}
          onChange={(routes) => set({ routes })}
        />
        <JsonField label={t('limits')} value={draft.limits} set={(limits) => set({ limits })} />
        <JsonField label={t('details')} value={draft.details} set={(details) => set({ details })} />
        {problem ? <ErrorState error={problem} /> : null}
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {isNew ? t('add') : t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface BasicsProps {
  readonly draft: ModelDraft
  readonly isNew: boolean
  readonly set: (more: Partial<ModelDraft>) => void
}

function Basics({ draft, isNew, set }: BasicsProps) {
  const t = useMessages(messages)
  return (
    <>
      {isNew ? (
        <TextInput
          label={t('id')}
          description={t('idNote')}
          required
          maxLength={128}
          value={draft.id}
          onChange={({ currentTarget }) => set({ id: currentTarget.value })}
        />
      ) : null}
      <Group gap="sm" align="flex-end">
        <Select
          label={t('type')}
          w={140}
          data={MODEL_TYPE_ORDER}
          allowDeselect={false}
          value={draft.type}
          onChange={(type) => set({ type: type ?? draft.type })}
        />
        <TextInput
          label={t('currency')}
          w={90}
          maxLength={3}
          value={draft.currency}
          onChange={({ currentTarget }) => set({ currency: currentTarget.value.toUpperCase() })}
        />
        <Switch
          label={t('free')}
          mb={8}
          checked={draft.isFree}
          onChange={({ currentTarget }) => set({ isFree: currentTarget.checked })}
        />
      </Group>
    </>
  )
}

interface JsonFieldProps {
  readonly label: string
  readonly value: string
  readonly set: (value: string) => void
}

function JsonField({ label, value, set }: JsonFieldProps) {
  return (
    <Textarea
      label={label}
      autosize
      minRows={1}
      maxRows={12}
      styles={{ input: { fontFamily: 'monospace', fontSize: 12 } }}
      value={value}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  )
}
