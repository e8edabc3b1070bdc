/** Adds models: a channel is chosen, then its vendor's models, or everything is typed. */
import { Button, Group, Loader, Stack, Text, UnstyledButton } from '@mantine/core'
import { Icon } from '../../../components/icon.tsx'
import { ButtonLink } from '../../../components/links.tsx'
import { ErrorState } from '../../../components/state/error-state.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import { useAdmin } from '../../../lib/use-admin.ts'
import { NEW_DRAFT, NEW_ROUTE } from '../draft.ts'
import { ModelForm } from '../model-form.tsx'
import classes from './add-model.module.css'
import { messages } from './messages.ts'
import { VendorModels } from './vendor-models.tsx'

interface AddModelProps {
  /** `choose`, `vendor` or `form`. */
  readonly step: string
  /** Id of a channel, or empty. */
  readonly channel: string
  readonly onStep: (step: string, channel: string) => void
  readonly onBook: (vendor: string) => void
  /** Opens a model. */
  readonly onOpen: (id: string) => void
}

export function AddModel({ step, channel, onStep, onBook, onOpen }: AddModelProps) {
  const t = useMessages(messages)
  if (step === 'choose' || (step === 'vendor' && channel === '')) {
    return <Sources onStep={onStep} onBook={() => onBook('choose')} />
  }
  return (
    <Stack gap="sm" align="stretch">
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Icon name="left" size={14} />}
          onClick={() => onStep('choose', '')}
        >
          {t('allChannels')}
        </Button>
      </Group>
      {step === 'vendor' ? (
        <VendorModels
          key={channel}
          channel={channel}
          onBook={onBook}
          onByHand={() => onStep('form', channel)}
          onOpen={onOpen}
        />
      ) : (
        <ModelForm
          isNew
          initial={{ ...NEW_DRAFT, routes: [{ ...NEW_ROUTE, channel }] }}
          onSaved={onOpen}
        />
      )}
    </Stack>
  )
}

interface SourcesProps {
  readonly onStep: AddModelProps['onStep']
  readonly onBook: () => void
}

function Sources({ onStep, onBook }: SourcesProps) {
  const t = useMessages(messages)
  const channels = useAdmin('GET /operator/channels', {})
  const upstreams = useAdmin('GET /operator/upstreams', {})
  const failed = [channels, upstreams].find(({ error }) => error)
  if (failed?.error) {
    return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
  }
  if (!channels.data || !upstreams.data) return <Loader size="sm" />
  const listing = upstreams.data.data.filter((one) => one.lists_models).map(({ name }) => name)
  const isListing = (upstream: string) => listing.includes(upstream)
  // Channels whose vendors list their models come first.
  const byListing = (one: { upstream: string }, other: { upstream: string }) =>
    Number(isListing(other.upstream)) - Number(isListing(one.upstream))
  const known = channels.data.data
  return (
    <Stack gap="sm">
      <div>
        <Text size="sm" fw={600}>
          {t('fromWhere')}
        </Text>
        <Text size="xs" c="dimmed">
          {t('fromWhereText')}
        </Text>
      </div>
      {known.length === 0 ? (
        <Group gap="xs">
          <Text size="sm">{t('noChannel')}</Text>
          <ButtonLink to="/operator/channels" search={{ add: 'choose' }} size="compact-sm">
            {t('addChannel')}
          </ButtonLink>
        </Group>
      ) : null}
      <div className={classes.choices}>
        {known.toSorted(byListing).map(({ id, upstream }) => (
          <Source
            key={id}
            title={id}
            text={upstream}
            onChoose={() => onStep(isListing(upstream) ? 'vendor' : 'form', id)}
          />
        ))}
      </div>
      <Source title={t('fromBook')} text={t('fromBookText')} onChoose={onBook} />
      <Source title={t('byHand')} text={t('byHandText')} onChoose={() => onStep('form', '')} />
    </Stack>
  )
}

interface SourceProps {
  readonly title: string
  readonly text: string
  readonly onChoose: () => void
}

function Source({ title, text, onChoose }: SourceProps) {
  return (
    <UnstyledButton className={classes.choice} onClick={onChoose}>
      <Text size="sm" fw={500}>
        {title}
      </Text>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </UnstyledButton>
  )
}
