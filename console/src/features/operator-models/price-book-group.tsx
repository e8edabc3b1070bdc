/** The models of a price book that are new, that differ, or that are up to date. */
import { Anchor, Checkbox, Group, Stack, Text, Title } from '@mantine/core'
import { PriceComparison } from '../../components/prices/price-comparison.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './price-book-messages.ts'

type Reviewed = AdminAnswer<'GET /operator/vendors/:vendor_id'>['review'][number]

interface ReviewGroupProps {
  readonly kind: Reviewed['change']
  readonly models: readonly Reviewed[]
  /** Ids of the chosen models of all groups. */
  readonly chosen: readonly string[]
  readonly isReady: (model: Reviewed) => boolean
  readonly onChoose: (chosen: readonly string[]) => void
}

export function ReviewGroup(props: ReviewGroupProps) {
  const { kind, models, chosen, isReady, onChoose } = props
  const t = useMessages(messages)
  const ready = models.filter(isReady).map(({ id }) => id)
  const count = ready.filter((id) => chosen.includes(id)).length
  const others = chosen.filter((id) => !ready.includes(id))
  const title = t(`${kind}Group`, { count: models.length })
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h4">
          {title}
        </Title>
        {kind === 'unchanged' || ready.length === 0 ? null : (
          <Checkbox
            size="xs"
            label={t('all')}
            aria-label={`${t('all')}: ${title}`}
            checked={count === ready.length}
            indeterminate={count > 0 && count < ready.length}
            onChange={({ currentTarget }) =>
              onChoose(currentTarget.checked ? [...others, ...ready] : others)
            }
          />
        )}
      </Group>
      <Stack gap="sm">
        {models.map((model) => (
          <ReviewedModel
            key={model.id}
            model={model}
            isReady={isReady(model)}
            isChosen={chosen.includes(model.id)}
            onToggle={(isChosen) =>
              onChoose(isChosen ? [...chosen, model.id] : chosen.filter((one) => one !== model.id))
            }
          />
        ))}
      </Stack>
    </section>
  )
}

interface ReviewedModelProps {
  readonly model: Reviewed
  readonly isReady: boolean
  readonly isChosen: boolean
  readonly onToggle: (isChosen: boolean) => void
}

function ReviewedModel({ model, isReady, isChosen, onToggle }: ReviewedModelProps) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  const { id, type, change, missing_channels: missing } = model
  if (change === 'unchanged') {
    return (
      <Text size="sm">
        {id}{' '}
        <Text component="span" size="xs" c="dimmed">
          {typeName(type)}
        </Text>
      </Text>
    )
  }
  return (
    <div>
      <Group gap="xs">
        <Checkbox
          size="sm"
          label={id}
          disabled={!isReady}
          checked={isChosen}
          onChange={({ currentTarget }) => onToggle(currentTarget.checked)}
        />
        <Text size="xs" c="dimmed">
          {typeName(type)}
        </Text>
        <PriceSource model={model} />
      </Group>
      <Stack gap={4} pl={30} pt={4}>
        {missing.length > 0 ? (
          <Text size="xs">{t('noChannel', { channels: missing.join(', ') })}</Text>
        ) : null}
        <Prices model={model} />
      </Stack>
    </div>
  )
}

function Prices({ model }: { readonly model: Reviewed }) {
  const t = useMessages(messages)
  const { id, book, current, differences, is_own: isOwn } = model
  if (!current) return <PriceLines currency={book.currency} prices={book.prices} most={2} />
  const isPrice = (path: string) => /^(?:prices|currency)\b/.test(path)
  const parts = new Set(
    differences
      .map(({ path }) => path)
      .filter((path) => !isPrice(path))
      .map((path) => /^\w+/.exec(path)?.[0] ?? path),
  )
  return (
    <>
      {differences.some(({ path }) => isPrice(path)) ? (
        <PriceComparison
          label={id}
          before={{ title: t('now'), ...current }}
          after={{ title: t('book'), ...book }}
          onlyChanges
        />
      ) : null}
      {parts.size > 0 ? (
        <Text size="xs" c="dimmed">
          {t('otherChanges', { parts: [...parts].join(', ') })}
        </Text>
      ) : null}
      {isOwn ? <Text size="xs">{t('isOwn')}</Text> : null}
    </>
  )
}

function PriceSource({ model }: { readonly model: Reviewed }) {
  const t = useMessages(messages)
  const { price_source: source, price_date: date } = model
  const text = date === null ? t('source') : t('read', { date })
  if (!source?.startsWith('https://')) {
    return date === null ? null : (
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    )
  }
  return (
    <Anchor href={source} target="_blank" rel="noreferrer" size="xs" title={t('source')}>
      {text}
    </Anchor>
  )
}
