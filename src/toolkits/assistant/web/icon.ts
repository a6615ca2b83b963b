import type { IconName } from '../../../web/ui/icon.tsx';

const icon: IconName = 'chat';
export default icon;
