import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { ToastProvider } from './components/toast.tsx';
import { applyTheme } from './lib/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/components.css';
import './styles/inbox.css';

applyTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <ToastProvider>
      <App />
    </ToastProvider>,
  );
