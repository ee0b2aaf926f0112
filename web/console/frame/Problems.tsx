// Pages for an unknown address and for an error while a page is loaded or rendered, in the frame of
// the console for an operator who is signed in.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useIsFramed } from '../../frame/framed.tsx'
import { useErrorText } from '../../runtime/errors.ts'
import { Button } from '../../ui/Button.tsx'
import { Sheet } from '../../ui/Sheet.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { meQuery } from '../queries.ts'
import { GuestSheet } from '../sign-in/GuestSheet.tsx'
import { Frame } from './Frame.tsx'

type Contents = Parameters<typeof Sheet>[0]

export function NotFound() {
  const { t } = useTranslation()
  const { data: me, isPending } = useQuery(meQuery)
  const contents: Contents = {
    title: t('notFound.title'),
    lead: t('notFound.text'),
    children: (
      <TextLink to={paths.today} className="justify-self-start">
        {t('nav.toHome')}
      </TextLink>
    ),
  }
  // Nothing for the moment, so that the frame does not change before the reader's eyes.
  if (isPending) return null
  if (me === undefined || me === null) return <GuestSheet {...contents} />
  return (
    <Frame>
      <Inside {...contents} />
    </Frame>
  )
}

/** Outside the frame it is the frame that failed, or who is signed in could not be read. */
export function ErrorPage({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const isFramed = useIsFramed()
  const contents: Contents = {
    title: t('broken.title'),
    lead: errorText(error),
    children: (
      <Button tone="main" onClick={() => window.location.reload()}>
        {t('broken.reload')}
      </Button>
    ),
  }
  return isFramed ? <Inside {...contents} /> : <GuestSheet {...contents} />
}

function Inside(contents: Contents) {
  return (
    <div className="mx-auto w-full max-w-md">
      <Sheet {...contents} />
    </div>
  )
}
