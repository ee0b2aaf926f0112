// Pages for an unknown address and for an error while a page is loaded or rendered.
import { CircleHelp, TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../../runtime/errors.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <Empty
      icon={CircleHelp}
      title={t('notFound.title')}
      text={t('notFound.text')}
      action={<TextLink to={paths.today}>{t('nav.toHome')}</TextLink>}
    />
  )
}

export function ErrorPage({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  return (
    <Empty
      icon={TriangleAlert}
      title={t('broken.title')}
      text={errorText(error)}
      action={<Button onClick={() => window.location.reload()}>{t('broken.reload')}</Button>}
    />
  )
}
