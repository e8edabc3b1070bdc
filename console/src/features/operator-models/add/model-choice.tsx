/** The models that a channel's vendor lists, to choose from, and names that it leaves out. */
import { Badge, Button, Checkbox, Group, Loader, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { ButtonLink } from '../../../components/links.tsx'
import { ErrorState } from '../../../components/state/error-state.tsx'
import { Notice } from '../../../components/state/notice.tsx'
import { useMessages, useServerText } from '../../../lib/i18n.tsx'
import { useAdmin } from '../../../lib/use-admin.ts'
import classes from './add-model.module.css'
import { messages } from './messages.ts'

/** Beyond it, a vendor's hundreds of models are found by search. */
const SHOWN_MAX = 100

interface ModelChoiceProps {
  readonly channel: string
  /** The vendor's names. */
  readonly chosen: readonly string[]
  readonly onChoose: (chosen: readonly string[]) => void
  /** Receives what is chosen, with a name that is typed but not added yet. */
  readonly onNext: (chosen: readonly string[]) => void
}

export function ModelChoice({ channel, chosen, onChoose, onNext }: ModelChoiceProps) {
  const t = useMessages(messages)
  const key = 'GET /operator/channels/:channel_id/models'
  const found = useAdmin(key, { params: { channel_id: channel } })
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const all = name === '' ? chosen : [...new Set([...chosen, name])]
  const add = () => {
    onChoose(all)
    setTyped('')
  }
  const { data } = found
  return (
    <Stack gap="sm">
      {found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.isPending ? (
        <Group gap="xs" role="status">
          <Loader size="sm" />
          <Text size="sm">{t('loading')}</Text>
        </Group>
      ) : null}
      {data && !data.ok ? (
        <NoList channel={channel} detail={data.detail} onRetry={() => void found.refetch()} />
      ) : null}
      {data?.ok ? (
        <VendorList channel={channel} models={data.models} chosen={chosen} onChoose={onChoose} />
      ) : null}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          add()
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            label={t('typed')}
            description={t('typedNote')}
            flex={1}
            maxLength={200}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <Button type="submit" variant="default" disabled={name === ''}>
            {t('choose')}
          </Button>
        </Group>
      </form>
      {chosen.length > 0 ? (
        <Text size="sm">{t('chosen', { models: chosen.join(', ') })}</Text>
      ) : null}
      <Group justify="flex-end">
        <Button disabled={all.length === 0} onClick={() => onNext(all)}>
          {all.length === 0 ? t('next') : t('nextCount', { count: all.length })}
        </Button>
      </Group>
    </Stack>
  )
}

interface NoListProps {
  readonly channel: string
  readonly detail: string
  readonly onRetry: () => void
}

function NoList({ channel, detail, onRetry }: NoListProps) {
  const t = useMessages(messages)
  const textOf = useServerText()
  return (
    <Notice tone="bad" title={t('noList')}>
      <Text size="sm">{textOf(detail)}</Text>
      <Text size="sm" mb={6}>
        {t('noListText')}
      </Text>
      <Group gap="xs">
        <ButtonLink
          to="/operator/channels"
          search={{ id: channel }}
          size="compact-sm"
          variant="default"
        >
          {t('toChannel')}
        </ButtonLink>
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          {t('again')}
        </Button>
      </Group>
    </Notice>
  )
}

interface VendorListProps extends Pick<ModelChoiceProps, 'channel' | 'chosen' | 'onChoose'> {
  readonly models: readonly string[]
}

function VendorList({ channel, models, chosen, onChoose }: VendorListProps) {
  const t = useMessages(messages)
  const known = useAdmin('GET /operator/models', {})
  const [search, setSearch] = useState('')
  if (models.length === 0) return <Text size="sm">{t('emptyList')}</Text>
  const routes = (known.data?.data ?? []).flatMap((model) => model.routes)
  const isAdded = (name: string) =>
    routes.some((one) => one.channel === channel && one.upstream_model === name)
  const wanted = search.trim().toLowerCase()
  const matching = models.filter((name) => name.toLowerCase().includes(wanted))
  const shown = matching.slice(0, SHOWN_MAX)
  return (
    <>
      <TextInput
        label={t('listOf', { channel })}
        placeholder={t('search', { count: models.length })}
        leftSection={<Icon name="search" size={15} />}
        data-autofocus
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <Stack gap={6} className={classes.list} role="group" aria-label={t('list')} tabIndex={0}>
        {shown.map((name) => (
          <Group key={name} gap="xs">
            <Checkbox
              size="sm"
              label={name}
              checked={chosen.includes(name)}
              onChange={({ currentTarget }) =>
                onChoose(
                  currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name),
                )
              }
            />
            {isAdded(name) ? (
              <Badge size="xs" variant="default">
                {t('isAdded')}
              </Badge>
            ) : null}
          </Group>
        ))}
        {matching.length === 0 ? <Text size="sm">{t('noMatch')}</Text> : null}
        {matching.length > shown.length ? (
          <Text size="xs" c="dimmed">
            {t('more', { count: matching.length - shown.length })}
          </Text>
        ) : null}
      </Stack>
    </>
  )
}
