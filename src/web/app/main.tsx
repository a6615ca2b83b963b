import { createRoot } from 'react-dom/client';
import { takePlace } from '../ui/place.ts';
import { applyTheme } from '../ui/session.ts';
import { ToastProvider } from '../ui/toast.tsx';
import { App } from './app.tsx';
import { registerWorker } from './notifications.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/components.css';
import './styles/inbox.css';
import './styles/overlays.css';
import './styles/item.css';
import './styles/blocks.css';

applyTheme();
takePlace();
registerWorker();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <ToastProvider>
      <App />
    </ToastProvider>,
  );
