/** The prices of the chosen models, as vendors state them: per 1,000,000 tokens. */
import {
  Anchor,
  Button,
  Fieldset,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useState } from 'react'
import { CheckedField, CheckedForm, useFieldError } from '../../../components/form/checked-form.tsx'
import { readDrafts, toPrices } from '../../../components/form/prices/price-draft.ts'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { CallCost } from '../../../components/prices/call-cost.tsx'
import { useModelTypeName } from '../../../components/text/model-type.ts'
import { useMessages } from '../../../lib/i18n.tsx'
import { useAdminChange } from '../../../lib/use-admin.ts'
import { NEW_DRAFT } from '../draft.ts'
import { messages } from './messages.ts'
import { listPrices, type NewModel, TEXT_TYPES } from './new-model.ts'

interface NewModelsFormProps {
  readonly channel: string
  readonly models: readonly NewModel[]
  readonly onChange: (models: readonly NewModel[]) => void
  readonly onBack: () => void
  readonly onByHand: () => void
  /** Receives the ids of the new models. */
  readonly onAdded: (ids: readonly string[]) => void
}

export function NewModelsForm(props: NewModelsFormProps) {
  const { channel, models, onChange, onBack, onByHand, onAdded } = props
  const t = useMessages(messages)
  const [currency, setCurrency] = useState(NEW_DRAFT.currency)
  const create = useAdminChange('POST /operator/models')
  const { isBusy, failure, submit } = useSubmit(async () => {
    const body = { currency, models: models.map((one) => toModel(one, channel)) }
    const { data } = await create.mutateAsync({ body })
    onAdded(data.map(({ id }) => id))
  })
  const set = (index: number, change: Partial<NewModel>) =>
    onChange(models.map((one, at) => (at === index ? { ...one, ...change } : one)))
  const copyFirst = () => {
    const { input = '', output = '', cached = '' } = models[0] ?? {}
    onChange(models.map((one) => ({ ...one, input, output, cached })))
  }
  return (
    <CheckedForm
      failure={failure}
      isBusy={isBusy}
      onSubmit={() => submit(undefined)}
      actions={
        <Group justify="flex-end">
          <Button variant="default" onClick={onBack}>
            {t('back')}
          </Button>
          <Button type="submit" loading={isBusy}>
            {models.length === 1 ? t('saveOne') : t('save', { count: models.length })}
          </Button>
        </Group>
      }
    >
      <CheckedField param="currency">
        {(error) => (
          <TextInput
            label={t('currency')}
            description={t('pricesOf')}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            styles={{ input: { width: 90 } }}
            maxLength={3}
            error={error}
            value={currency}
            onChange={({ currentTarget }) => setCurrency(currentTarget.value.toUpperCase())}
          />
        )}
      </CheckedField>
      {models.map((model, index) => (
        <Fieldset key={model.upstreamModel} legend={model.upstreamModel}>
          <ModelFields
            param={`models[${index}]`}
            model={model}
            currency={currency}
            set={(change) => set(index, change)}
          />
          {index === 0 && models.length > 1 ? (
            <Button mt="xs" size="compact-xs" variant="default" onClick={copyFirst}>
              {t('copyPrices')}
            </Button>
          ) : null}
        </Fieldset>
      ))}
      <Text size="xs" c="dimmed">
        {t('otherTypes')}{' '}
        <Anchor component="button" type="button" inherit onClick={onByHand}>
          {t('byHand')}
        </Anchor>
      </Text>
    </CheckedForm>
  )
}

function toModel(model: NewModel, channel: string) {
  return {
    id: model.id.trim(),
    type: model.type,
    prices: toPrices(listPrices(model)),
    routes: [{ channel, upstream_model: model.upstreamModel }],
  }
}

interface ModelFieldsProps {
  /** The server's name of the model, for example `models[0]`. */
  readonly param: string
  readonly model: NewModel
  readonly currency: string
  readonly set: (change: Partial<NewModel>) => void
}

function ModelFields({ param, model, currency, set }: ModelFieldsProps) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  const hasOutput = model.type === 'chat'
  return (
    <Stack gap="xs">
      <Group gap="sm" align="flex-start">
        <TextInput
          label={t('name')}
          description={t('nameNote')}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          flex={1}
          miw={200}
          maxLength={128}
          error={useFieldError(`${param}.id`)}
          value={model.id}
          onChange={({ currentTarget }) => set({ id: currentTarget.value })}
        />
        <Select
          label={t('type')}
          w={130}
          data={TEXT_TYPES.map((value) => ({ value, label: typeName(value) }))}
          allowDeselect={false}
          error={useFieldError(`${param}.type`)}
          value={model.type}
          onChange={(type) => set({ type: type === 'embedding' ? type : 'chat' })}
        />
      </Group>
      <Text size="sm" fw={500}>
        {t('per', { currency })}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="xs">
        <Amount
          param={`${param}.prices[0]`}
          label={t('input')}
          value={model.input}
          onChange={(input) => set({ input })}
        />
        {hasOutput ? (
          <>
            <Amount
              param={`${param}.prices[1]`}
              label={t('output')}
              value={model.output}
              onChange={(output) => set({ output })}
            />
            <Amount
              param={`${param}.prices[2]`}
              label={t('cached')}
              value={model.cached}
              absent={t('asInput')}
              onChange={(cached) => set({ cached })}
            />
          </>
        ) : null}
      </SimpleGrid>
      <CallCost currency={currency} prices={readDrafts(listPrices(model))} hasOutput={hasOutput} />
    </Stack>
  )
}

interface AmountProps {
  readonly param: string
  readonly label: string
  readonly value: string
  /** Stands in for an absent amount; without it the price is required. */
  readonly absent?: string
  readonly onChange: (value: string) => void
}

function Amount({ param, label, value, absent, onChange }: AmountProps) {
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      withAsterisk={absent === undefined}
      {...(absent === undefined ? {} : { placeholder: absent })}
      error={useFieldError(param)}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
